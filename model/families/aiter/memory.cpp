// AITER's kernels on ROCm: MXFP4 with 16-bit and with MXFP4 activations, FP8 and MXFP8.

#include "model/families/memory.hpp"

#include <array>

#include "model/families/aiter/blocks.hpp"
#include "model/families/aiter/family.hpp"
#include "model/families/casts.hpp"
#include "model/families/ran.hpp"
#include "model/families/row_blocks.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kRowsAxis = "rows";

layout::TensorPlan fp32_bias(layout::Layout layout) { return {std::move(layout), &cast_named("bf16_to_f32")}; }

layout::Layout loaded_units(layout::Role role, const Setting& setting) {
  return loaded_rows(role, setting, layout::is_bias(role) ? 32 : layout::unit_bits(role, setting.form.format));
}

/// What follows the order of the rows of an AITER_MXFP4_BF16 tensor.
layout::TensorPlan shuffled_a16w4(layout::Layout layout, layout::Role role, bool gate_up) {
  if (layout::is_bias(role)) return fp32_bias(std::move(layout));
  if (layout::is_scale(role)) return {blocks::aiter_scale_a16w4(layout, kRowsAxis, "G", gate_up), &layout::kKeep};
  return {blocks::aiter_weight_a16w4(layout, kRowsAxis, "K", gate_up), &layout::kKeep};
}

/// The older engine separates the pairs of rows of w13 whatever the checkpoint's order.
layout::TensorPlan build_bf16_2026_05(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  if (layout::is_w13(role)) blocks::separate_pairs(layout, kRowsAxis);
  return shuffled_a16w4(std::move(layout), role, layout::is_w13(role));
}

bool is_standard(const Setting& setting) { return setting.form.order == layout::SourceOrder::standard; }
/// triton_kernels' strided layout, which moves nothing.
bool is_strided(const Setting& setting) { return is_standard(setting) && setting.arch == Arch::gfx1250; }
bool is_situ(const Setting& setting) { return is_standard(setting) && !is_strided(setting) && setting.activation == ConverterActivation::situ; }
bool is_shuffled(const Setting& setting) { return !is_strided(setting); }

layout::TensorPlan build_bf16_2026_08(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  if (is_strided(setting)) return layout::is_bias(role) ? fp32_bias(std::move(layout)) : layout::TensorPlan{std::move(layout), &layout::kKeep};
  if (layout::is_w13(role) && !is_standard(setting)) blocks::separate_pairs(layout, kRowsAxis);
  if (role == layout::Role::w2_weight_scale && is_situ(setting)) return {blocks::aiter_e8m0(layout, "E", kRowsAxis, "G"), &layout::kKeep};
  return shuffled_a16w4(std::move(layout), role, layout::is_w13(role) && (!is_situ(setting) || setting.of<AiterParameters>().a8w4));
}

layout::TensorPlan build_mxfp4(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  if (layout::is_bias(role)) return fp32_bias(std::move(layout));
  if (layout::is_scale(role)) return {blocks::aiter_e8m0(layout, "E", kRowsAxis, "G"), &layout::kKeep};
  return {blocks::aiter_weight(layout, kRowsAxis, "K"), &layout::kKeep};
}

layout::TensorPlan build_mxfp8(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_rows(role, setting, layout::unit_bits(role, layout::WeightFormat::mxfp8));
  if (role == layout::Role::w2_weight_scale) return {blocks::aiter_e8m0(layout, "E", kRowsAxis, "G"), &layout::kKeep};
  if (layout::is_bias(role)) return {std::move(layout), &layout::kKeep};
  return shuffled_a16w4(std::move(layout), role, layout::is_w13(role));
}

layout::TensorPlan build_fp8(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_rows(role, setting, layout::unit_bits(role, setting.form.format));
  if (!layout::is_weight(role)) return {std::move(layout), &layout::kKeep};
  return {blocks::aiter_weight(layout, kRowsAxis, "K"), &layout::kKeep};
}

// Rows of w13 and w2 are whole tiles in every MXFP4 and MXFP8 layer: sizes are multiples of the group of 32.
/// AITER v0.1.13 pads no groups of scales, later releases do.
constexpr std::array<Need, 4> kMayBf16Needs{{
    {Quantity::hidden, Rule::multiple_of, 128, "a tile of w13 has 64 bytes of a row"},
    {Quantity::intermediate, Rule::multiple_of, 128, "a tile of w2 has 64 bytes of a row"},
    {Quantity::w13_groups, Rule::multiple_of, 8, "a tile of the scales of w13 has 8 groups"},
    {Quantity::w2_groups, Rule::multiple_of, 8, "a tile of the scales of w2 has 8 groups"},
}};
constexpr std::array<Need, 2> kBf16Needs{{
    {Quantity::hidden, Rule::multiple_of, 128, "a tile of w13 has 64 bytes of a row", is_shuffled},
    {Quantity::intermediate, Rule::multiple_of, 128, "a tile of w2 has 64 bytes of a row", is_shuffled},
}};
constexpr std::array<Need, 4> kMxfp4Needs{{
    {Quantity::hidden, Rule::multiple_of, 64, "a tile of w13 has 32 bytes of a row"},
    {Quantity::intermediate, Rule::multiple_of, 64, "a tile of w2 has 32 bytes of a row"},
    {Quantity::w13_scale_rest, Rule::equals, 0, "the shuffled scales are viewed as experts by rows"},
    {Quantity::w2_scale_rest, Rule::equals, 0, "the shuffled scales are viewed as experts by rows"},
}};
constexpr std::array<Need, 2> kMxfp8Needs{{
    {Quantity::hidden, Rule::multiple_of, 64, "a tile of w13 has 64 bytes of a row"},
    {Quantity::intermediate, Rule::multiple_of, 64, "a tile of w2 has 64 bytes of a row"},
}};
constexpr std::array<Need, 4> kFp8Needs{{
    {Quantity::w13_rows, Rule::multiple_of, 16, "shuffle_weight asserts whole tiles of 16 rows"},
    {Quantity::hidden, Rule::multiple_of, 32, "shuffle_weight asserts whole tiles of 32 columns"},
    {Quantity::w2_rows, Rule::multiple_of, 16, "shuffle_weight asserts whole tiles of 16 rows"},
    {Quantity::intermediate, Rule::multiple_of, 32, "shuffle_weight asserts whole tiles of 32 columns"},
}};

constexpr std::string_view kMayCommit = "7e1b45a09252a5b513cd83116aa7a2f310220c34";
constexpr std::string_view kAugustCommit = "017e9f4448b700e85ee16023287b025693c72b9e";

constexpr layout::Source mxfp4_source(std::string_view commit) {
  return {"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py",
          "convert_gpt_oss_weight_to_mxfp4_moe_kernel_format, convert_weight_to_mxfp4_moe_kernel_format", commit};
}
constexpr layout::Source kFp8Source{"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/fp8.py", "convert_to_fp8_moe_kernel_format",
                                    kAugustCommit};

constexpr std::string_view kA16w4Summary =
    "w13 rows gate then up; tiles of 16 rows by 64 bytes, of gate and up in turn; scales in tiles of 32 rows by 8; biases fp32";

constexpr BackendLayout mxfp4_row(std::string_view backend, std::string_view summary, deployment::Versions engines, deployment::Versions standard,
                                  std::span<const Need> needs, layout::TensorPlan (*build)(layout::Role, const Setting&)) {
  return {.format = layout::WeightFormat::mxfp4,
          .backend = backend,
          .family = "aiter",
          .summary = summary,
          .engines = engines,
          .standard_order = standard,
          .gpt_oss_order = engines,
          .takes_not_gated = false,
          .needs = needs,
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = mxfp4_source(engines.has(deployment::kVllm2026_08) ? kAugustCommit : kMayCommit)};
}

constexpr BackendLayout fp8_row(layout::WeightFormat format) {
  return {.format = format,
          .backend = "AITER",
          .family = "aiter",
          .summary = "tiles of 16 rows by 32 columns, in them 16 bytes of each row; scales as loaded",
          .engines = deployment::since(deployment::kVllm2026_05),
          .standard_order = deployment::since(deployment::kVllm2026_05),
          .gpt_oss_order = deployment::kNever,
          .takes_not_gated = true,
          .needs = kFp8Needs,
          .build = build_fp8,
          .values = nullptr,
          .undo_values = nullptr,
          .source = kFp8Source};
}

constexpr BackendLayout mxfp8_row() {
  return {.format = layout::WeightFormat::mxfp8,
          .backend = "AITER_MXFP8",
          .family = "aiter",
          .summary = "tiles of 16 rows by 64 bytes, of gate and up in turn; scales of w13 in tiles of 32 rows by 8, of w2 over all experts stacked",
          .engines = deployment::since(deployment::kVllm2026_08),
          .standard_order = deployment::since(deployment::kVllm2026_08),
          .gpt_oss_order = deployment::kNever,
          .takes_not_gated = false,
          .needs = kMxfp8Needs,
          .build = build_mxfp8,
          .values = nullptr,
          .undo_values = nullptr,
          .source = kFp8Source};
}

constexpr BackendLayout aiter(BackendLayout row) { return of_library(row, "aiter"); }

constexpr std::array<BackendLayout, 7> kRows{
    aiter(mxfp4_row("AITER_MXFP4_BF16", kA16w4Summary, deployment::before(deployment::kVllm2026_08), deployment::before(deployment::kVllm2026_08),
                    kMayBf16Needs, build_bf16_2026_05)),
    changed_in_november(aiter(by_parts(mxfp4_row("AITER_MXFP4_BF16", kA16w4Summary, deployment::since(deployment::kVllm2026_08),
                                                 deployment::since(deployment::kVllm2026_08), kBf16Needs, build_bf16_2026_08),
                                       "on gfx1250 the last layout of triton_kernels")),
                        "the order of gate and up follows a variable with SITU, and is by halves with 4-bit activations of DeepSeek-V4.1",
                        "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py convert_weight_to_mxfp4_moe_kernel_format"),
    aiter(mxfp4_row(
        "AITER_MXFP4_MXFP4",
        "rows in order; tiles of 16 rows by 32 bytes, in them 16 bytes of each row; scales of all experts stacked in tiles of 32 by 8; biases fp32",
        deployment::since(deployment::kVllm2026_05), deployment::since(deployment::kVllm2026_08), kMxfp4Needs, build_mxfp4)),
    aiter(fp8_row(layout::WeightFormat::fp8_tensor)),
    aiter(fp8_row(layout::WeightFormat::fp8_channel)),
    aiter(run_gated(fp8_row(layout::WeightFormat::fp8_block))),
    aiter(mxfp8_row()),
};

}  // namespace

constinit const std::span<const BackendLayout> kAiterLayouts{kRows};

}  // namespace mx::families
