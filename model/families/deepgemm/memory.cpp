// DeepGEMM: weights and biases as loaded, but that blocks of FP8 are quantized anew for powers of two. Scales of MXFP4 leave e8m0; those of FP8 per
// 128 x 128 become e8m0 on sm100, one per row, packed.

#include <array>
#include <cstdint>

#include "model/families/building_block.hpp"
#include "model/families/casts.hpp"
#include "model/families/deepgemm/blocks.hpp"
#include "model/families/deepgemm/family.hpp"
#include "model/families/deepgemm/values.hpp"
#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"
#include "model/families/row_blocks.hpp"

namespace mx::families {
namespace {

layout::TensorPlan build_upcast(layout::Role role, const Setting& setting) {
  const layout::Cast& cast = layout::is_scale(role) ? cast_named("e8m0_to_f32_shift") : layout::kKeep;
  return {layout::loaded(role, setting.sizes, setting.padded, setting.form,
                         layout::is_scale(role) ? cast.to_bits : layout::unit_bits(role, setting.form.format)),
          &cast};
}

/// The upcast and the packing, which takes the exponent back out, leave every code as it was.
layout::TensorPlan build_packed(layout::Role role, const Setting& setting) {
  layout::Layout layout = layout::loaded(role, setting.sizes, setting.padded, setting.form);
  if (!layout::is_scale(role)) return {std::move(layout), &layout::kKeep};
  const std::string rows = blocks::merge_rows(layout);
  blocks::deepgemm_packed_ue8m0(layout, rows, "G");
  return {std::move(layout), &layout::kKeep};
}

using deepgemm::packs;

constexpr std::int64_t kBlockRows = 128;

layout::TensorPlan build_fp8(layout::Role role, const Setting& setting) {
  if (!layout::is_scale(role) || !packs(setting)) return {loaded_units(role, setting), &layout::kKeep};
  layout::Layout layout = loaded_rows(role, setting, 8);
  layout.repeat("rows", kBlockRows);
  return {blocks::deepgemm_packed_ue8m0(layout, "rows", "KB"), &layout::kKeep};
}

/// Scales that are e8m0 in the checkpoint: no block is quantized anew, and where the kernel takes fp32 the exponents are moved.
layout::TensorPlan build_e8m0_blocks(layout::Role role, const Setting& setting) {
  return packs(setting) ? build_fp8(role, setting) : build_upcast(role, setting);
}

bool requantizes(const Setting& setting) { return setting.of<DeepgemmParameters>().e8m0; }

/// vLLM pins a branch of DeepGEMM with kernels for sm120, which could not be read.
bool is_sm120_since_august(const Setting& setting) { return setting.arch == Arch::sm120 && setting.engine >= deployment::kVllm2026_08; }
constexpr Need kDevice{Quantity::deepgemm_device, Rule::equals, 1, "DeepGEMM has FP8 kernels for sm90 and sm100",
                       [](const Setting& setting) { return !is_sm120_since_august(setting); }};
constexpr Need kKnownDevice{Quantity::deepgemm_device, Rule::equals, 1,   "how DeepGEMM lays out FP8's scales on sm120 is not in mxact yet",
                            is_sm120_since_august,     {},           true};

constexpr std::array<Need, 4> kFp8Needs{{
    kDevice,
    kKnownDevice,
    {Quantity::intermediate, Rule::multiple_of, kBlockRows, "the scales of gate and up are whole blocks", requantizes},
    {Quantity::hidden, Rule::multiple_of, kBlockRows, "the rows of w2 are whole blocks", packs},
}};

constexpr std::array<Need, 4> kE8m0BlockNeeds{{
    kDevice,
    kKnownDevice,
    {Quantity::intermediate, Rule::multiple_of, kBlockRows, "the scales of gate and up are whole blocks", packs},
    {Quantity::hidden, Rule::multiple_of, kBlockRows, "the rows of w2 are whole blocks", packs},
}};

constexpr BackendLayout mxfp4(std::string_view summary, deployment::Versions engines, Build build) {
  BackendLayout row = mxfp4_row("deepgemm", "DEEPGEMM_MXFP4", summary, {}, build);
  row.engines = row.standard_order = row.gpt_oss_order = engines;
  if (!engines.has(deployment::kVllm2026_08)) row.source.commit = kCommit2026_05;
  return row;
}

/// Source: the engine's requantization, and DeepGEMM's transform_sf_into_required_layout in csrc/apis/layout.hpp.
constexpr BackendLayout fp8(std::string_view backend) {
  BackendLayout row =
      gated_only(fp8_row("deepgemm", layout::WeightFormat::fp8_block, backend,
                         "blocks quantized anew for scales that are powers of two; on sm100 these lie as e8m0 for every row, four to a word, "
                         "words column by column; all as loaded where VLLM_USE_DEEP_GEMM_E8M0 is 0",
                         kFp8Needs, build_fp8));
  row.values = deepgemm::requantize;
  row.undo_values = deepgemm::exponents_back;
  row.source.path = "vllm/model_executor/layers/quantization/utils/fp8_utils.py";
  row.source.symbol = "prepare_fp8_moe_layer_for_deepgemm";
  return row;
}

constexpr BackendLayout fp8_e8m0(std::string_view backend) {
  BackendLayout row = fp8(backend);
  row.format = layout::WeightFormat::fp8_block_e8m0;
  row.summary =
      "codes as loaded; scales fp32 with the same exponents (code 0 becomes 0, 255 infinity), on sm100 as they are for every row, four to a word, "
      "words column by column, unless VLLM_USE_DEEP_GEMM_E8M0 is 0";
  row.needs = kE8m0BlockNeeds;
  row.build = build_e8m0_blocks;
  row.values = nullptr;
  row.undo_values = nullptr;
  return row;
}

layout::TensorPlan build_mxfp8(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  return {layout::is_scale(role) ? blocks::deepgemm_packed_ue8m0(layout, "rows", "G") : layout, &layout::kKeep};
}

constexpr std::array<Need, 1> kMxfp8Needs{{{Quantity::deepgemm_packs, Rule::equals, 1, "DeepGEMM has no transform of such scales but for sm100"}}};

constexpr BackendLayout mxfp8() {
  BackendLayout row = in_versions(gated_only(fp8_row("deepgemm", layout::WeightFormat::mxfp8, "DEEPGEMM",
                                                     "weights as loaded; scales four to a word, words column by column", kMxfp8Needs, build_mxfp8)),
                                  deployment::since(deployment::kVllm2026_08));
  row.source = kFp8Oracle;
  return row;
}

constexpr std::int64_t kMegaRows = 128;

/// The order that the kernel of whole layers reads within every 128 rows of scales.
layout::Layout& spread_rows(layout::Layout& layout) {
  blocks::split_off(layout, "rows", {{"quarter", 4}, {"row", kMegaRows / 4}});
  blocks::order(layout, {"rows", "row", "quarter"});
  return layout.merge({"rows", "row", "quarter"}, "rows");
}

layout::TensorPlan build_mega(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_rows(role, setting, layout::unit_bits(role));
  if (layout::is_w13(role) && !layout::is_bias(role)) blocks::alternate_halves(layout, "rows", 8);
  if (layout::is_scale(role)) blocks::deepgemm_packed_ue8m0(spread_rows(layout), "rows", "G");
  return {std::move(layout), &layout::kKeep};
}

constexpr std::array<Need, 2> kMegaNeeds{{
    {Quantity::w13_rows, Rule::multiple_of, kMegaRows, "the rows of scales of w13 are spread in blocks of 128"},
    {Quantity::w2_rows, Rule::multiple_of, kMegaRows, "the rows of scales of w2 are spread in blocks of 128"},
}};

/// DeepSeek-V4's mega MoE, moe_backend deep_gemm_mega_moe: no member of the oracle's enum.
constexpr BackendLayout mega() {
  BackendLayout row = mxfp4_row(
      "deepgemm", "DEEPGEMM_MEGA_MOE",
      "w13 rows in blocks of 8 of gate and up in turn; scales as their rows, spread within every 128, four to a word, words column by column",
      kMegaNeeds, build_mega);
  row.gpt_oss_order = deployment::kNever;
  row.source = {"deepseek-ai/DeepGEMM", "deep_gemm/mega", "transform_weights_for_mega_moe", "54e22612409371d6364144b69086735beb54e98b"};
  return row;
}

constexpr BackendLayout transformed(BackendLayout row) { return of_library(by_parts(row, kDeepGemmStandIn), "deepgemm"); }

constexpr BackendLayout scales_as_they_are(BackendLayout row) {
  return changed_in_november(row, "scales in e8m0 go to the packer as they are", "Q/fp8_utils.py deepgemm_post_process_fp8_weight_block");
}

constexpr std::array<BackendLayout, 8> kRows{
    mxfp4("weights and biases as loaded; scales fp32 in row order (code 0 becomes 0, 255 infinity), packed at run time",
          deployment::before(deployment::kVllm2026_08), build_upcast),
    transformed(mxfp4("weights and biases as loaded; scales four to a word, words column by column", deployment::since(deployment::kVllm2026_08),
                      build_packed)),
    transformed(fp8("DEEPGEMM")),
    transformed(fp8("BATCHED_DEEPGEMM")),
    scales_as_they_are(
        of_library(by_parts(fp8_e8m0("DEEPGEMM"), "DeepGEMM's transform of the scales; only scales of w13 were recorded"), "deepgemm")),
    scales_as_they_are(of_library(read_alone(fp8_e8m0("BATCHED_DEEPGEMM")), "deepgemm")),
    scales_as_they_are(transformed(mxfp8())),
    transformed(mega()),
};

}  // namespace

constinit const std::span<const BackendLayout> kDeepgemmLayouts{kRows};

}  // namespace mx::families
