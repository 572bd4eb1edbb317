// Rows under their launches, held against single products of an H100 (golden/witness/hardware): Humming, Marlin on NVFP4, CUTLASS, DeepGEMM.

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/numerics/chain.hpp"
#include "model/numerics/f32.hpp"
#include "tests/golden/witness/launched.hpp"

namespace mx::tests::witness {
namespace {

/// All of one expert's tensors zero but for those that a test fills.
layout::CanonicalLayer zero_layer(const layout::Sizes& sizes, WeightFormat format) {
  layout::CanonicalLayer layer{sizes, {format, SourceOrder::standard}, {}};
  for (const Role role : layout::kAllRoles) {
    if (layout::has_role(format, role) && !layout::is_bias(role))
      layer[role].resize(static_cast<std::size_t>(layout::canonical(role, sizes, layer.form).bytes()));
  }
  return layer;
}

void put_words(std::vector<std::uint8_t>& bytes, std::size_t first, std::span<const std::uint32_t> words) {
  for (std::size_t i = 0; i < 4 * words.size(); ++i) bytes[4 * first + i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
}

/// Recorded columns of an expert of the launch, as rows of gate and up: the other experts have a slot each, too, so that tiles lie as recorded.
struct HummingProduct {
  Entry entry;
  WeightFormat format;
  std::int64_t group;  ///< of scales along k, of sizes
  std::int64_t k, n, expert, experts;
  Words columns;

  HummingProduct(const char* id, WeightFormat of)
      : entry("humming_product_h100", id),
        format(of),
        group(std::max<std::int64_t>(layout::group_of(of), 1)),
        k(entry.number("launch_k")),
        n(entry.number("launch_n")),
        expert(entry.words("token_block", "F32").front()),
        experts(entry.number("token_blocks")),
        columns(entry.words("columns", "F32")) {
    for (const std::uint32_t block : entry.words("token_block", "F32")) REQUIRE(block == static_cast<std::uint32_t>(expert));
  }

  void put_rows(std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& from) const {
    const std::size_t width = from.size() / columns.size(), first = static_cast<std::size_t>(expert * n);
    for (std::size_t c = 0; c < columns.size(); ++c)
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(c * width), width,
                  to.begin() + static_cast<std::ptrdiff_t>((first + columns[c]) * width));
  }

  layout::CanonicalLayer layer() const {
    layout::CanonicalLayer made = zero_layer({experts, n / 2, k, group}, format);
    put_rows(made[Role::w13_weight], entry.input("w_codes"));
    if (format == WeightFormat::nvfp4) {
      const Words global = entry.words("w_global", "F32");
      for (std::int64_t e = 0; e < experts; ++e) put_words(made[Role::w13_global_scale], static_cast<std::size_t>(e), global);
    }
    if (format != WeightFormat::fp8_block) {
      put_rows(made[Role::w13_weight_scale], entry.input("w_scales"));
      return made;
    }
    // Recorded rows have each the scales of its block.
    const Words scales = entry.words("w_scales", "F32");
    const auto blocks = static_cast<std::size_t>(k / 128);
    for (std::size_t c = 0; c < columns.size(); ++c)
      put_words(made[Role::w13_weight_scale], (static_cast<std::size_t>(expert * n) + columns[c]) / 128 * blocks,
                std::span(scales).subspan(c * blocks, blocks));
    return made;
  }

  LayerTokens tokens() const {
    LayerTokens made;
    made.top_k = 1;
    made.x = entry.words("x", "BF16");
    made.ids.resize(made.x.size() / static_cast<std::size_t>(k), static_cast<std::int32_t>(expert));
    for (std::int64_t e = 0; e < experts; ++e) {
      if (e == expert) continue;
      made.ids.push_back(static_cast<std::int32_t>(e));
      made.x.resize(made.x.size() + static_cast<std::size_t>(k));
    }
    return made;
  }

  /// Of the recorded rows.
  std::size_t wrong(SumsBy by) const {
    const families::LaunchChoice launch = launch_of(entry, {{"block_m", LaunchKey::block_m},
                                                            {"block_n", LaunchKey::tile_n},
                                                            {"block_k", LaunchKey::tile_k},
                                                            {"warp_k", LaunchKey::warp_k},
                                                            {"blocks", LaunchKey::blocks},
                                                            {"stages", LaunchKey::stages},
                                                            {"stream_k", LaunchKey::stream_k}});
    const Words h13 = stage_of(experts_of(layer(), "HUMMING", launch, by), tokens(), LayerStage::h13), h = entry.output("h");
    std::size_t count = 0;
    for (std::size_t i = 0; i < h.size(); ++i)
      count += h13[i / columns.size() * static_cast<std::size_t>(n) + columns[i % columns.size()]] != h[i] ? 1U : 0U;
    CHECK(std::set<std::uint32_t>(h.begin(), h.end()).size() > 10);
    return count;
  }
};

/// Recorded codes as the start of a layer, each row the one slot of a token.
std::vector<StageValues> start(const Entry& entry, std::int64_t k, std::int64_t scales) {
  const Words codes = entry.words("a", "U8");
  const std::int64_t rows = static_cast<std::int64_t>(codes.size()) / k;
  return {{LayerStage::a1_codes, "U8", {rows, k}, codes}, {LayerStage::a1_scales, "F32", {rows, scales}, entry.words("scale_a", "F32")}};
}
LayerTokens tokens_of(const std::vector<StageValues>& from) {
  LayerTokens tokens;
  tokens.top_k = 1;
  tokens.ids.resize(static_cast<std::size_t>(from.front().shape[0]));
  return tokens;
}

/// The recorded rows of weights as the first ones of a block of 128, with the block's scales.
layout::CanonicalLayer block_layer(const Entry& entry) {
  layout::CanonicalLayer layer = zero_layer({1, 128, entry.number("K"), 1}, WeightFormat::fp8_block);
  const std::vector<std::uint8_t> rows = entry.input("b");
  std::ranges::copy(rows, layer[Role::w13_weight].begin());
  put_words(layer[Role::w13_weight_scale], 0, entry.words("scale_b", "F32"));
  return layer;
}

/// Its columns of h13.
Words first_columns(const Words& h13, std::int64_t n) {
  Words first;
  for (std::size_t i = 0; i < h13.size(); ++i) {
    if (static_cast<std::int64_t>(i) % 256 < n) first.push_back(h13[i]);
  }
  return first;
}

}  // namespace

TEST_CASE("Humming gives recorded columns of its products, by the model and by the twins, whole and in slices") {
  for (const auto& [id, format] : {std::pair{"mxa16.A.cancel.first.m7.e0", WeightFormat::mxfp4},
                                   {"mxa16.A.extreme.first.m48.e1", WeightFormat::mxfp4},
                                   {"mxa16.A.plain.second.m48.e2", WeightFormat::mxfp4},
                                   {"nva16.A.cancel.first.m7.e0", WeightFormat::nvfp4},
                                   {"nva16.A.extreme.first.m48.e1", WeightFormat::nvfp4},
                                   {"nva16.A.plain.second.m48.e2", WeightFormat::nvfp4},
                                   {"f8a16.A.cancel.first.m7.e0", WeightFormat::fp8_block},
                                   {"f8a16.A.extreme.first.m48.e1", WeightFormat::fp8_block},
                                   {"f8a16.A.plain.second.m48.e2", WeightFormat::fp8_block},
                                   {"m8a16.S.extreme.first.m65.e4", WeightFormat::mxfp8},
                                   {"f8ca16.S.extreme.first.m65.e1", WeightFormat::fp8_channel}}) {
    INFO(id);
    const HummingProduct product(id, format);
    for (const SumsBy by : {SumsBy::model, SumsBy::twins}) CHECK(product.wrong(by) == 0);
  }
  // Two slices a tile: k 2048 of eight experts.
  CHECK(HummingProduct("nva16.R.cancel.first.m7.e5", WeightFormat::nvfp4).wrong(SumsBy::twins) == 0);
}

TEST_CASE("Marlin on NVFP4 multiplies an expert's scale into the routing weight, from the checkpoint's tensors and its own") {
  const Entry plain("marlin_nvfp4_h100", "marlin.nvfp4.w2plain"), weighted("marlin_nvfp4_h100", "marlin.nvfp4.w2");
  const layout::Sizes sizes{plain.number("E"), plain.number("I"), plain.number("H"), 16};
  layout::CanonicalLayer layer = zero_layer(sizes, WeightFormat::nvfp4);
  layer[Role::w2_weight] = plain.input("w2_codes");
  layer[Role::w2_weight_scale] = plain.input("w2_scales");
  layer[Role::w2_global_scale] = plain.input("w2_global");
  LayerTokens tokens;
  tokens.top_k = plain.number("top_k");
  for (const std::uint32_t id : plain.words("ids", "F32")) tokens.ids.push_back(static_cast<std::int32_t>(id));
  tokens.weights = plain.words("weights", "F32");
  const std::int64_t slots = tokens.tokens() * tokens.top_k;
  const std::vector<StageValues> from{{LayerStage::act, "BF16", {slots, sizes.intermediate}, plain.words("act", "BF16")}};
  const families::LaunchChoice launch = marlin_launch(plain);
  const families::Setting setting{.sizes = sizes, .padded = sizes, .form = layer.form, .engine = deployment::kVllm2026_05, .arch = Arch::sm90};
  const families::PackedLayer packed =
      families::convert(layer, families::backend_layout_named("MARLIN", WeightFormat::nvfp4, setting.engine), setting);
  for (const SumsBy by : {SumsBy::model, SumsBy::twins}) {
    const LayerExperts of_checkpoint = settled(experts_of(layer, "MARLIN", launch, by), tokens.tokens(), tokens.top_k);
    for (const LayerExperts& experts : {of_checkpoint, packed_experts(packed, {"SILU", {}}, "None", {}, by, launch)})
      CHECK(differing(stage_of(experts, tokens, LayerStage::y, from), weighted, "y") == 0);
    // What an exchange gets of a slot has the scale in the sum.
    std::vector<SlotWork> work;
    for (std::int64_t slot = 0; slot < slots; ++slot) work.push_back({slot, tokens.ids[static_cast<std::size_t>(slot)]});
    const Execution& execution = of_checkpoint.execution;
    std::vector<SlotStages> stages(work.size());
    run_second(execution, of_checkpoint.weights, quantized(*execution.second, from.front().words, sizes.intermediate, 0), work,
               or_all({}, sizes.hidden), stages);
    Words whole;
    for (const SlotStages& slot : stages) {
      for (const std::uint32_t bits : unweighted(slot)) whole.push_back(bits >> 16U);
    }
    CHECK(differing(whole, plain, "y") == 0);
  }
}

TEST_CASE("CUTLASS and DeepGEMM on FP8 give recorded products of recorded codes") {
  for (const char* id : {"pa.cutlass.channel.60slots", "pa.cutlass.channel.288slots"}) {
    INFO(id);
    const Entry entry("fp8_products_h100", id);
    const std::int64_t k = entry.number("K"), n = entry.number("N");
    layout::CanonicalLayer layer = zero_layer({1, n / 2, k, 1}, WeightFormat::fp8_channel);
    layer[Role::w13_weight] = entry.input("b");
    layer[Role::w13_weight_scale] = entry.input("scale_b");
    const std::vector<StageValues> from = start(entry, k, 1);
    const families::LaunchChoice launch = launch_of(entry, {{"slots", LaunchKey::tokens}});
    for (const SumsBy by : {SumsBy::model, SumsBy::twins})
      CHECK(differing(
                stage_of(experts_of(layer, "VLLM_CUTLASS", launch, by, {"SILU", {}}, "kFp8DynamicTokenSym"), tokens_of(from), LayerStage::h13, from),
                entry, "d") == 0);
  }
  for (const char* id : {"pa.deepgemm", "px.deepgemm"}) {
    INFO(id);
    const Entry entry("fp8_products_h100", id);
    const std::int64_t k = entry.number("K"), n = entry.number("N");
    const layout::CanonicalLayer layer = block_layer(entry);
    const std::vector<StageValues> from = start(entry, k, k / 128);
    families::LaunchChoice launch;
    launch.set(LaunchKey::e8m0, 0);
    for (const char* backend : {"DEEPGEMM", "BATCHED_DEEPGEMM"}) {
      const Words h13 = stage_of(experts_of(layer, backend, launch, SumsBy::model), tokens_of(from), LayerStage::h13, from);
      CHECK(differing(first_columns(h13, n), entry, "d") == 0);
    }
  }
}

TEST_CASE("a step of 256 of BATCHED_TRITON is one chain under the scales of its first block") {
  const Entry entry("fp8_products_h100", "pa.deepgemm");
  const auto k = static_cast<std::size_t>(entry.number("K")), n = static_cast<std::size_t>(entry.number("N"));
  const std::vector<StageValues> from = start(entry, entry.number("K"), entry.number("K") / 128);
  const LayerExperts experts = experts_of(block_layer(entry), "BATCHED_TRITON", families::read_launch("block_m=64,step_k=256,e8m0=0"), SumsBy::model);
  const Words made = first_columns(stage_of(experts, tokens_of(from), LayerStage::h13, from), entry.number("N"));
  const ContractRow& row = mx::row_of(Contract::hopper_fp8);
  const Words a = entry.words("a", "U8"), b = entry.words("b", "U8"), scale_a = entry.words("scale_a", "F32"),
              scale_b = entry.words("scale_b", "F32");
  const auto prepared = [&](Side side, const Words& codes, std::size_t at) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < k; ++i) values.push_back(decode(kE4m3fn, codes[at * k + i]));
    return prepare(row, side, {.elements = values, .format = &kE4m3fn});
  };
  std::size_t wrong = 0, as_always = 0;
  const Words always = entry.output("d");
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::size_t m = i / n, c = i % n;
    const PreparedOperand x = prepared(Side::a, a, m), w = prepared(Side::b, b, c);
    std::uint32_t v = 0;
    for (std::size_t step = 0; step < k; step += 256) {
      const std::size_t count = std::min<std::size_t>(256, k - step), block = step / 128;
      const std::uint32_t sum = chain(row, std::span(x.factors).subspan(step, count), std::span(w.factors).subspan(step, count), {}, {});
      v = f32::fma(f32::mul(sum, scale_a[m * (k / 128) + block]), scale_b[block], v);
    }
    wrong += made[i] != to_bf16(v) >> 16U ? 1U : 0U;
    as_always += made[i] == always[i] ? 1U : 0U;
  }
  CHECK(wrong == 0);
  CHECK(as_always < made.size() / 10);
}

}  // namespace mx::tests::witness
