// Rows under their launches, held against products that real kernels gave on an H100 (golden/witness/hardware): Marlin, triton_kernels.

#include <set>
#include <string>

#include "sim/execute/sample_layer.hpp"
#include "tests/golden/witness/launched.hpp"

namespace mx::tests::witness {

TEST_CASE("Marlin on FP8 gives both recorded products, by the model and by the twins") {
  struct Form {
    const char* name;
    WeightFormat format;
  };
  for (const Form& form :
       {Form{"fp8_block", WeightFormat::fp8_block}, {"fp8_channel", WeightFormat::fp8_channel}, {"fp8_tensor", WeightFormat::fp8_tensor}}) {
    INFO(form.name);
    const Entry first("marlin_fp8_h100", std::string("marlin.") + form.name + ".h13"),
        second("marlin_fp8_h100", std::string("marlin.") + form.name + ".y");
    layout::CanonicalLayer layer{{first.number("E"), first.number("I"), first.number("H"), 1}, {form.format, SourceOrder::standard}, {}};
    layer[Role::w13_weight] = first.input("w13_codes");
    layer[Role::w13_weight_scale] = first.input("w13_scales");
    layer[Role::w2_weight] = second.input("w2_codes");
    layer[Role::w2_weight_scale] = second.input("w2_scales");
    LayerTokens tokens;
    tokens.top_k = first.number("top_k");
    for (const std::uint32_t id : second.words("ids", "F32")) tokens.ids.push_back(static_cast<std::int32_t>(id));
    tokens.weights = second.words("weights", "F32");
    tokens.x = first.words("x", "BF16");
    for (const SumsBy by : {SumsBy::model, SumsBy::twins}) {
      const LayerExperts experts = experts_of(layer, "MARLIN", marlin_launch(first), by);
      CHECK(differing(stage_of(experts, tokens, LayerStage::h13), first, "h13") == 0);
      const std::vector<StageValues> from{
          {LayerStage::act, "BF16", {tokens.tokens() * tokens.top_k, first.number("I")}, second.words("act", "BF16")}};
      CHECK(differing(stage_of(experts, tokens, LayerStage::y, from), second, "y") == 0);
    }
  }
}

TEST_CASE("Marlin on MXFP4 gives the recorded products of two launches, whose bits differ") {
  std::set<Words> all;
  for (const char* id : {"marlin.b8.k128.n128", "marlin.b32.k64.n256"}) {
    INFO(id);
    const Entry entry("marlin_split_h100", id);
    const layout::Sizes sizes{entry.number("E"), entry.number("I"), entry.number("H"), 32};
    layout::CanonicalLayer layer{sizes, {WeightFormat::mxfp4, SourceOrder::standard}, {}};
    layer[Role::w13_weight] = entry.input("w13_codes");
    layer[Role::w13_weight_scale] = entry.input("w13_scales");
    layer[Role::w13_bias] = entry.input("w13_bias");
    const auto zeros = [&](Role role, Role like) { layer[role].resize(layer[like].size() / 2); };
    zeros(Role::w2_weight, Role::w13_weight);
    zeros(Role::w2_weight_scale, Role::w13_weight_scale);
    layer[Role::w2_bias].resize(static_cast<std::size_t>(2 * sizes.experts * sizes.hidden));
    LayerTokens tokens;
    tokens.top_k = entry.number("top_k");
    tokens.x = entry.words("x", "BF16");
    tokens.ids.resize(static_cast<std::size_t>(entry.number("T") * tokens.top_k));
    const Words sorted = entry.words("sorted_ids", "F32"), experts_of_blocks = entry.words("expert_ids", "F32");
    const auto block = static_cast<std::size_t>(entry.number("moe_block"));
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] < tokens.ids.size()) tokens.ids[sorted[i]] = static_cast<std::int32_t>(experts_of_blocks[i / block]);
    }
    for (const SumsBy by : {SumsBy::model, SumsBy::twins}) {
      LayerExperts experts = experts_of(layer, "MARLIN", marlin_launch(entry), by);
      // The converter pads k.
      layout::Sizes padded = sizes;
      padded.hidden = entry.number("padded_k");
      experts.execution = settled(std::move(experts.execution), {tokens.tokens(), tokens.top_k, padded});
      const Words h13 = stage_of(experts, tokens, LayerStage::h13);
      CHECK(differing(h13, entry, "h13") == 0);
      all.insert(h13);
    }
  }
  CHECK(all.size() == 2);
}

TEST_CASE("TRITON leaves the end of odd rows and reads scale bytes 0 and 255 as recorded, from its own packed tensors") {
  for (const char* set : {"moe_drop_h100", "moe_scale_bytes_h100"}) {
    INFO(set);
    const Entry entry(set, "triton.gemm1");
    const layout::Sizes sizes{entry.number("E"), entry.number("I"), entry.number("H"), 32};
    layout::CanonicalLayer layer{sizes, SourceOrder::gpt_oss, {}};
    layer[Role::w13_weight] = entry.input("w13_codes");
    layer[Role::w13_weight_scale] = entry.input("w13_scales");
    layer[Role::w13_bias] = entry.input("w13_bias");
    layer[Role::w2_weight].resize(layer[Role::w13_weight].size() / 2);
    layer[Role::w2_weight_scale].resize(layer[Role::w13_weight_scale].size() / 2);
    layer[Role::w2_bias].resize(static_cast<std::size_t>(2 * sizes.experts * sizes.hidden));
    const families::Setting setting{
        .sizes = sizes, .padded = sizes, .form = SourceOrder::gpt_oss, .engine = deployment::kVllm2026_05, .arch = Arch::sm90};
    const families::PackedLayer packed =
        families::convert(layer, families::backend_layout_named("TRITON", WeightFormat::mxfp4, setting.engine), setting);
    LayerTokens tokens;
    tokens.top_k = entry.number("top_k");
    tokens.x = entry.words("x", "BF16");
    const Words source = entry.words("gather_src", "F32"), histogram = entry.words("expert_hist", "F32");
    tokens.ids.resize(source.size());
    std::size_t slot = 0;
    for (std::size_t expert = 0; expert < histogram.size(); ++expert) {
      for (std::uint32_t i = 0; i < histogram[expert]; ++i, ++slot) tokens.ids[source[slot]] = static_cast<std::int32_t>(expert);
    }
    const LayerExperts experts = packed_experts(packed, {"SWIGLUOAI", {0x3FD9DB23U, 0x3F800000U, 0x40E00000U, 0}}, "None", {}, SumsBy::twins);
    const Words halves = stage_of(experts, tokens, LayerStage::h13);
    const auto half = static_cast<std::size_t>(sizes.intermediate);
    Words sorted(halves.size());  // as the kernel has slots and columns
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const std::size_t row = source[i / (2 * half)], column = i % (2 * half);
      sorted[i] = halves[row * 2 * half + column % 2 * half + column / 2];
    }
    CHECK(differing(sorted, entry, "h13") == 0);
  }
}

TEST_CASE("a launch's word on the batch is what its bits do when more tokens run") {
  struct Case {
    const char* backend;
    WeightFormat format;
    deployment::Engine engine;
    const char* given;
    std::int64_t few, many;
    const char* word;
  };
  using deployment::kVllm2026_05, deployment::kVllm2026_08;
  for (const Case& one :
       {Case{"TRITON", WeightFormat::fp8_block, kVllm2026_05, "e8m0=0", 64, 65, "changes: from 64 to 65 tokens, without a tuned file"},
        {"TRITON", WeightFormat::fp8_block, kVllm2026_05, "batch_invariant=1", 64, 65, "invariant"},
        {"TRITON", WeightFormat::fp8_channel, kVllm2026_05, "", 96, 97, "changes: from 96 to 97 tokens, without a tuned file"},
        {"TRITON", WeightFormat::fp8_channel, kVllm2026_08, "", 96, 97, "invariant"},
        {"DEEPGEMM", WeightFormat::fp8_block, kVllm2026_08, "", 64, 65, "invariant"},
        {"VLLM_CUTLASS", WeightFormat::fp8_channel, kVllm2026_05, "", 32, 33, "changes: from 64 to 65 slots"}}) {
    INFO(one.backend << " " << layout::name_of(one.format) << " " << one.given << " " << deployment::name_of(one.engine));
    const layout::CanonicalLayer layer = sample_layer({2, 128, 256, 1}, {one.format, SourceOrder::standard}, false, 3);
    const SampleTokens sample = sample_tokens(2, 256, 2, 2, 3);
    LayerTokens tokens;
    tokens.top_k = 2;
    tokens.x = sample.x;
    for (const auto& slots : sample.slots) {
      for (const moe::Slot& slot : slots) {
        tokens.ids.push_back(static_cast<std::int32_t>(slot.expert));
        tokens.weights.push_back(slot.weight);
      }
    }
    std::set<Words> all;
    for (const std::int64_t count : {one.few, one.many}) {
      families::LaunchChoice choice = families::read_launch(one.given);
      choice.set(LaunchKey::tokens, count);
      const families::ExecutionRow& row = families::execution_of(one.format, one.backend);
      Execution execution = execution_on(row, {Arch::sm90}, "kFp8DynamicTokenSym", {"SILU", {}}, {}, one.engine);
      execution.choice = choice;
      const LayerExperts experts = settled({std::move(execution), Weights::of_checkpoint(layer, row), 256}, tokens.tokens(), tokens.top_k);
      CHECK(families::text_of(experts.execution.batch) == one.word);
      // Before rounding, where it is kept: few bf16 values show an order of scales.
      LayerExperts wide = experts;
      families::ExecutionRow unrounded = row;
      unrounded.rounds_h13 = false;
      wide.execution.row = &unrounded;
      const std::vector<LayerStage> wanted{LayerStage::h13};
      all.insert(run_layer(wide, tokens, {}, wanted).front().words);
    }
    CHECK(all.size() == (std::string_view(one.word) == "invariant" ? 1 : 2));
  }
}

}  // namespace mx::tests::witness
