// Runs of a layer: the stages that a simulation has, bit for bit; somebody else's stages, and the rule that made them.

#include "sim/execute/run_layer.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "model/error.hpp"
#include "sim/execute/sample_layer.hpp"
#include "sim/layer/compare_stages.hpp"
#include "sim/ranks/deployment.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;
using namespace mx::sim;
using layout::WeightFormat;

constexpr layout::Sizes kSizes{4, 64, 64, 32};
constexpr moe::ActivationConstants kOai{0x3FD9DB23U, 0x3F800000U, 0x40E00000U, 0};

LayerTokens tokens_of(const SampleTokens& sample) {
  LayerTokens tokens{static_cast<std::int64_t>(sample.slots.front().size()), {}, {}, sample.x};
  for (const std::vector<moe::Slot>& slots : sample.slots) {
    for (const moe::Slot& slot : slots) {
      tokens.ids.push_back(static_cast<std::int32_t>(slot.expert));
      tokens.weights.push_back(slot.weight);
    }
  }
  return tokens;
}

struct Sampled {
  layout::CanonicalLayer layer;
  SampleTokens sample;
  LayerExperts experts;
  LayerTokens tokens;
};

Sampled sampled(std::string_view backend, WeightFormat format = WeightFormat::mxfp4, families::Arch arch = families::Arch::sm90,
                std::int64_t top_k = 2, std::int64_t side = 64) {
  const families::ExecutionRow& row = families::execution_of(format, backend);
  const bool is_oai = format == WeightFormat::mxfp4;
  const std::int64_t group = std::max<std::int64_t>(layout::group_of(format), 1);
  const layout::Sizes sizes = format == WeightFormat::fp8_block ? layout::Sizes{4, 256, 256, 128} : layout::Sizes{4, side, side, group};
  layout::CanonicalLayer layer = sample_layer(sizes, layout::Form(format, is_oai ? row.oai_order : row.silu_order), is_oai, 11);
  SampleTokens sample = sample_tokens(3, sizes.hidden, sizes.experts, top_k, 11);
  Execution execution = execution_on(row, {arch}, "None", {is_oai ? "SWIGLUOAI" : "SILU", is_oai ? kOai : moe::ActivationConstants{}}, {});
  LayerExperts experts{std::move(execution), Weights::of_checkpoint(layer, row), sizes.hidden};
  LayerTokens tokens = tokens_of(sample);
  return {std::move(layer), std::move(sample), std::move(experts), std::move(tokens)};
}

const StageValues& stage(const std::vector<StageValues>& all, LayerStage wanted) { return *std::ranges::find(all, wanted, &StageValues::stage); }

std::vector<StageValues> run_all(const Sampled& of) {
  std::vector<LayerStage> all;
  for (const StageValues& form : stage_forms(of.experts, of.tokens)) all.push_back(form.stage);
  return run_layer(of.experts, of.tokens, {}, all);
}

/// The sentence of what is refused, with its place before it.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("a run of a layer has the stages of a simulation's one rank") {
  for (const char* backend : {"TRITON", "MARLIN", "FLASHINFER_CUTLASS_MXFP4_MXFP8"}) {
    INFO(backend);
    const Sampled of = sampled(backend, WeightFormat::mxfp4, families::Arch::sm100);
    deployment::LayerConfig config{};
    config.num_experts = kSizes.experts;
    config.experts_per_token = 2;
    config.hidden = kSizes.hidden;
    config.intermediate_per_partition = kSizes.intermediate;
    config.routing_method = "RenormalizeNaive";
    const SimulationRequest request{"mxfp4", deployment::deployment_on(deployment::platform_named("SM100"), {}, config), backend, "",
                                    deployment::kVllm2026_05};
    const auto reference = run_reference(request, {of.layer, {"SWIGLUOAI", kOai}, {}}, of.sample, {});
    const std::vector<StageValues> made = run_all(of);
    const bool is_rounded = of.experts.execution.row->rounds_h13;
    // The simulation computes at the sizes that the engine rounds to; what the checkpoint has lies in front.
    const auto width = static_cast<std::size_t>(kSizes.intermediate);
    std::size_t differing = 0;
    for (std::size_t slot = 0; slot < reference.stages.size(); ++slot) {
      const SlotStages& want = reference.stages[slot];
      const auto bits = [&](std::uint32_t word) { return is_rounded ? word << 16U : word; };
      for (std::size_t i = 0; i < width; ++i) {
        differing += static_cast<std::size_t>(bits(stage(made, LayerStage::h13).words[slot * 2 * width + i]) != want.gate[i]);
        differing += static_cast<std::size_t>(bits(stage(made, LayerStage::h13).words[slot * 2 * width + width + i]) != want.up[i]);
        differing += static_cast<std::size_t>(stage(made, LayerStage::act).words[slot * width + i] << 16U != want.activation[i]);
      }
      for (std::size_t n = 0; n < want.down.size(); ++n) {
        const std::uint32_t share = slot_share(of.experts.execution, want.down[n], want.weight(of.tokens.weights[slot]));
        differing += static_cast<std::size_t>(stage(made, LayerStage::y).words[slot * width + n] << 16U != share);
      }
    }
    for (std::size_t i = 0; i < reference.out.size(); ++i)
      differing += static_cast<std::size_t>(stage(made, LayerStage::out).words[i] << 16U != reference.out[i]);
    CHECK(reference.out.size() == stage(made, LayerStage::out).words.size());
    CHECK(differing == 0);
    // What enters a quantizing kernel is its codes and scales.
    if (of.experts.execution.first->scope == families::ScaleScope::none) continue;
    const auto front = [](const std::vector<std::uint32_t>& rows, std::size_t all, std::size_t own) {
      std::vector<std::uint32_t> kept;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i % all < own) kept.push_back(rows[i]);
      }
      return kept;
    };
    const auto padded = static_cast<std::size_t>(reference.input.columns);
    CHECK(stage(made, LayerStage::a1_codes).words == front(reference.input.codes, padded, width));
    CHECK(stage(made, LayerStage::a1_scales).words == front(reference.input.blocks, padded / 32, width / 32));
  }
}

TEST_CASE("slots without an expert have zeros, and add nothing") {
  Sampled of = sampled("TRITON");
  const std::vector<StageValues> whole = run_all(of);
  of.tokens.ids[1] = -1;
  of.tokens.ids[2] = of.tokens.ids[3] = -1;
  const std::vector<StageValues> made = run_all(of);
  const auto rows = [](const StageValues& values, std::size_t slot) {
    const auto width = static_cast<std::size_t>(values.shape[1]);
    return std::vector<std::uint32_t>(values.words.begin() + static_cast<std::ptrdiff_t>(slot * width),
                                      values.words.begin() + static_cast<std::ptrdiff_t>((slot + 1) * width));
  };
  for (const LayerStage one : {LayerStage::h13, LayerStage::act, LayerStage::y}) {
    for (const std::size_t slot : {0U, 4U, 5U}) CHECK(rows(stage(made, one), slot) == rows(stage(whole, one), slot));
    for (const std::size_t slot : {1U, 2U, 3U})
      CHECK(std::ranges::all_of(rows(stage(made, one), slot), [](std::uint32_t word) { return word == 0; }));
  }
  CHECK(std::ranges::all_of(rows(stage(made, LayerStage::out), 1), [](std::uint32_t word) { return word == 0; }));
  CHECK(rows(stage(made, LayerStage::out), 2) == rows(stage(whole, LayerStage::out), 2));
}

TEST_CASE("what a run does not take is said with its place") {
  const Sampled of = sampled("TRITON");
  const std::vector<StageValues> made = run_all(of);
  const auto from = [&](std::vector<StageValues> start, std::vector<LayerStage> wanted) {
    return refusal([&] { run_layer(of.experts, of.tokens, start, wanted); });
  };
  CHECK(from({stage(made, LayerStage::act)}, {LayerStage::h13}) == "stages: h13 lies before the run, which starts from act");
  CHECK(from({stage(made, LayerStage::h13), stage(made, LayerStage::act)}, {LayerStage::y}) == "from: a run starts from one step: h13, act");
  CHECK(from({}, {LayerStage::act_codes}) == "stages: TRITON has no act_codes here; its stages are h13, act, y, out");
  StageValues cut = stage(made, LayerStage::act);
  cut.shape[1] = 63;
  CHECK(from({cut}, {LayerStage::y}) == "act: is BF16 [6, 63], here it is BF16 [6, 64]");
  LayerTokens tokens = of.tokens;
  const std::array out{LayerStage::out};
  const auto refused = [&] { return refusal([&] { run_layer(of.experts, tokens, {}, out); }); };
  tokens.ids[3] = 4;
  CHECK(refused() == "ids: token 1, slot 1 goes to expert 4, of 0..3, or -1 for none");
  tokens = of.tokens;
  tokens.x.pop_back();
  CHECK(refused() == "x: has 191 values for 3 tokens of 64");
  tokens = of.tokens;
  tokens.weights.clear();
  CHECK(refused() == "weights: has 0 values for 6 slots");
  tokens.ids.pop_back();
  CHECK(refused() == "ids: 5 experts are not tokens with 2 each");
  const Sampled coded = sampled("TRITON", WeightFormat::fp8_block);
  const std::vector<StageValues> codes = run_all(coded);
  CHECK(refusal([&] { run_layer(coded.experts, coded.tokens, std::array{stage(codes, LayerStage::act_codes)}, out); }) ==
        "from: act_scales is missing beside act_codes");
}

TEST_CASE("a comparison says the first difference, and the rule that makes it") {
  const Sampled of = sampled("TRITON_UNFUSED", WeightFormat::mxfp4, families::Arch::sm90, 4);
  const std::vector<StageValues> made = run_all(of);
  const StageValues &h13 = stage(made, LayerStage::h13), &act = stage(made, LayerStage::act), &y = stage(made, LayerStage::y),
                    &out = stage(made, LayerStage::out);
  const auto explained = [&](const std::vector<StageValues>& before, const StageValues& own, const StageValues& given) {
    const StageComparison comparison = compare_stage(of.experts, of.tokens, own, given);
    INFO(row_of(given.stage).name);
    CHECK(comparison.differing > 0);
    return explanation(of.experts, of.tokens, before, own, given, comparison);
  };
  // Another rule of the same layer makes what is given.
  const auto by = [&](std::vector<StageValues> start, LayerStage wanted, const std::function<void(families::ExecutionRow&, Execution&)>& change) {
    families::ExecutionRow row = *of.experts.execution.row;
    LayerExperts other = of.experts;
    change(row, other.execution);
    other.execution.row = &row;
    return run_layer(other, of.tokens, start, std::array{wanted}).front();
  };
  CHECK(explained({}, h13, by({}, LayerStage::h13, [](families::ExecutionRow& row, auto&) { row.bias = families::BiasEntry::dropped; })) ==
        "bias: dropped");
  CHECK(explained({y}, out, by({y}, LayerStage::out, [](auto&, Execution& execution) { execution.sum = families::SlotSum::bf16; })) ==
        "slots summed in bf16, by slot");
  CHECK(explained({act}, y, by({act}, LayerStage::y, [](families::ExecutionRow& row, auto&) { row.slot = families::SlotRule::rounded; })) ==
        "slot: bf16(y), fma with w");
  CHECK(explained({h13}, act, by({h13}, LayerStage::act, [](families::ExecutionRow& row, auto&) { row.swiglu_oai.row = "silu_and_mul"; })) ==
        "activation silu_and_mul");
  StageValues turns = h13;
  for (std::size_t i = 0; i < turns.words.size(); ++i) turns.words[i] = h13.words[i / 128 * 128 + i % 2 * 64 + i % 128 / 2];
  CHECK(explained({}, h13, turns) == "columns of gate and up by turns");
  // A difference that no rule makes has a place and no rule.
  StageValues flipped = h13;
  flipped.words[128 + 64 + 7] ^= 1U;
  const StageComparison comparison = compare_stage(of.experts, of.tokens, h13, flipped);
  CHECK(comparison.compared == 1536);
  CHECK(comparison.differing == 1);
  CHECK(comparison.where == "token 0, slot 1 (expert " + std::to_string(of.tokens.ids[1]) + "), up 7");
  CHECK(explained({}, h13, flipped).empty());
  // NaNs are alike whatever their bits; equal elements could hide an exchange.
  StageValues nan = h13, other = h13;
  nan.words[0] = 0x7FC0;
  other.words[0] = 0xFFC1;
  CHECK(compare_stage(of.experts, of.tokens, nan, other).differing == 0);
  CHECK_FALSE(compare_stage(of.experts, of.tokens, h13, h13).is_blind);
  std::ranges::fill(nan.words, 0x3F80U);
  CHECK(compare_stage(of.experts, of.tokens, nan, nan).is_blind);
}

TEST_CASE("h13 that a kernel keeps in fp32 is held against bf16 by one rounding") {
  const Sampled of = sampled("TRITON");
  const StageValues h13 = run_layer(of.experts, of.tokens, {}, std::array{LayerStage::h13}).front();
  REQUIRE(h13.dtype == "F32");
  StageValues given{LayerStage::h13, "BF16", h13.shape, {}};
  for (const std::uint32_t word : h13.words) given.words.push_back(to_bf16(word) >> 16U);
  CHECK(compare_stage(of.experts, of.tokens, h13, given).differing == 0);
  given.words[3] ^= 1U;
  CHECK(compare_stage(of.experts, of.tokens, h13, given).differing == 1);
}

TEST_CASE("sums whose slices join in no fixed order have all values that can come, and each of them is right") {
  Sampled of = sampled("HUMMING", WeightFormat::mxfp4, families::Arch::sm90, 2, 256);
  of.experts.execution.choice = families::read_launch("tile_k=16,tile_n=64,blocks=132,stages=1");
  const StageValues h13 = run_layer(of.experts, of.tokens, {}, std::array{LayerStage::h13}).front();
  REQUIRE_FALSE(h13.possible.empty());
  for (const auto& [element, words] : h13.possible) {
    CHECK(words.size() > 1);
    CHECK(std::ranges::find(words, h13.words[element]) != words.end());
  }
  StageValues other = h13;
  for (const auto& [element, words] : h13.possible) other.words[element] = words.front() == h13.words[element] ? words.back() : words.front();
  CHECK(compare_stage(of.experts, of.tokens, h13, other).differing == 0);
  other.words[h13.possible.begin()->first] = 0x4F00;
  CHECK(compare_stage(of.experts, of.tokens, h13, other).differing == 1);
  // Whole tiles have one value each.
  of.experts.execution.choice = families::read_launch("tile_k=16,tile_n=64,stages=1");
  CHECK(run_layer(of.experts, of.tokens, {}, std::array{LayerStage::h13}).front().possible.empty());
}
