// TRT-LLM generated kernels: all rows are shuffled for the epilogue tile of 128 rows (of FP8 in blocks, 64), the rows of w13 alternate up and gate
// before (of FP8 in blocks they are up then gate); scales follow their rows into the 128x4 tile.

#include <array>

#include "model/families/block_scales.hpp"
#include "model/families/casts.hpp"
#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"
#include "model/families/row_blocks.hpp"
#include "model/families/trtllm/family.hpp"
#include "model/fault.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kRowsAxis = "rows";

/// MXFP4, whatever the checkpoint's order.
layout::TensorPlan build_mxfp4(layout::Role role, const Setting& setting) {
  const layout::Cast& cast = layout::is_bias(role) ? cast_named("bf16_to_f32") : layout::kKeep;
  layout::Layout layout = layout::padded_tensor(role, setting.sizes, setting.padded, layout::is_bias(role) ? cast.to_bits : layout::unit_bits(role));
  if (layout::is_w13(role)) blocks::up_gate_interleaved(layout);
  const std::string_view rows = layout::is_w13(role) ? kRowsAxis : "N";
  if (!layout::is_scale(role) || !fault::planted(fault::Fault::scale_rows_not_shuffled)) blocks::shuffle_a128(layout, rows);
  if (layout::is_scale(role)) blocks::sf128x4(layout, rows, "G");
  return {std::move(layout), &cast};
}

/// NVFP4: the versions of the engine differ in what they pad I of gate and up to.
constexpr ConverterPadding nvfp4_padding(std::int64_t gated) { return {.hidden = 256, .gated = gated, .not_gated = 128}; }

/// Padded in both directions behind the halves, which alternate afterwards.
template <ConverterPadding padding>
layout::TensorPlan build_nvfp4(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  if (!moves(role)) return {std::move(layout), &layout::kKeep};
  if (layout::is_w13(role)) rows_up_first(layout, setting);
  pad_matrix(layout, role, setting, padded_by(padding, setting));
  if (layout::is_w13(role) && setting.form.gated) blocks::alternate_halves(layout, kRowsAxis, 1);
  blocks::shuffle_a128(layout, kRowsAxis);
  if (layout::is_scale(role)) blocks::sf128x4(layout, kRowsAxis, "G");
  return {std::move(layout), &layout::kKeep};
}

layout::TensorPlan build_fp8_tensor(layout::Role role, const Setting& setting) {
  layout::Layout layout = fp8_padded_up_first(role, setting);
  if (!layout::is_weight(role)) return {std::move(layout), &layout::kKeep};
  if (layout::is_w13(role) && setting.form.gated) blocks::alternate_halves(layout, kRowsAxis, 1);
  return {blocks::shuffle_a128(layout, kRowsAxis), &layout::kKeep};
}

layout::TensorPlan build_fp8_block(layout::Role role, const Setting& setting) {
  layout::Layout layout = fp8_up_first(role, setting);
  if (!layout::is_weight(role)) return {std::move(layout), &layout::kKeep};
  blocks::shuffle_a64(layout, kRowsAxis).split("K", 128, "K.block", "K");
  return {layout.permute({"E", "K.block", "rows", "K"}), &layout::kKeep};
}

layout::TensorPlan build_mxfp8(layout::Role role, const Setting& setting) {
  layout::Layout layout = fp8_up_first(role, setting);
  if (!moves(role)) return {std::move(layout), &layout::kKeep};
  if (layout::is_w13(role) && setting.form.gated) blocks::alternate_halves(layout, kRowsAxis, 1);
  blocks::shuffle_a128(layout, kRowsAxis);
  if (layout::is_scale(role)) blocks::sf128x4(layout, kRowsAxis, "G");
  return {std::move(layout), &layout::kKeep};
}

constexpr std::array<Need, 5> kMxfp4Needs{{
    kBiasesOfGptOss,
    {Quantity::w13_rows, Rule::multiple_of, 128, "get_shuffle_matrix_sf_a_row_indices asserts the rows of w13"},
    {Quantity::w2_rows, Rule::multiple_of, 128, "get_shuffle_matrix_sf_a_row_indices asserts the rows of w2"},
    kTileColumnsW13,
    kTileColumnsW2,
}};
constexpr std::array<Need, 1> kNvfp4MayNeeds{
    {{Quantity::w13_rows, Rule::multiple_of, 128, "I is padded to 16 only, and the scale index asserts the rows of w13", is_gated}}};
constexpr std::array<Need, 2> kTensorNeeds{{
    {Quantity::has_input_scale, Rule::equals, 1, "rotate_weights_for_fi_trtllm_fp8_per_tensor_moe is called with both"},
    {Quantity::w2_rows, Rule::multiple_of, 32, "shuffle_matrix_a asserts the rows of w2"},
}};
constexpr std::array<Need, 4> kBlockNeeds{{
    {Quantity::w13_rows, Rule::multiple_of, 16, "shuffle_matrix_a asserts the rows of w13"},
    {Quantity::hidden, Rule::multiple_of, 128, "convert_to_block_layout asserts the columns of w13"},
    {Quantity::w2_rows, Rule::multiple_of, 16, "shuffle_matrix_a asserts the rows of w2"},
    {Quantity::intermediate, Rule::multiple_of, 128, "convert_to_block_layout asserts the columns of w2"},
}};
constexpr std::array<Need, 4> kMxfp8Needs{{
    {Quantity::w13_rows, Rule::multiple_of, 128, "shuffle_matrix_sf_a asserts the rows of w13"},
    {Quantity::w2_rows, Rule::multiple_of, 128, "shuffle_matrix_sf_a asserts the rows of w2"},
    kTileColumnsW13,
    kTileColumnsW2,
}};

constexpr BackendLayout mxfp4(std::string_view backend) {
  return mxfp4_row("trtllm", backend,
                   "w13 rows up 0, gate 0, up 1, ..; all rows shuffled in blocks of 32; scales in the 128x4 tile; biases fp32 in row order",
                   kMxfp4Needs, build_mxfp4);
}

template <ConverterPadding padding>
constexpr BackendLayout nvfp4(deployment::Versions engines, std::span<const Need> needs) {
  return with_padding(nvfp4_row("trtllm", "FLASHINFER_TRTLLM",
                                "w13 rows up 0, gate 0, up 1, .. of the halves padded at the end of the matrix; all rows shuffled in blocks of 32; "
                                "scales in the 128x4 tile",
                                engines, needs, build_nvfp4<padding>),
                      padding);
}

constexpr BackendLayout fp8(layout::WeightFormat format, std::string_view summary, std::span<const Need> needs, Build build) {
  return fp8_row("trtllm", format, "FLASHINFER_TRTLLM", summary, needs, build);
}

constexpr BackendLayout flashinfer(BackendLayout row) { return of_library(row, "flashinfer"); }

constexpr std::array<BackendLayout, 7> kRows{
    flashinfer(by_parts(mxfp4("FLASHINFER_TRTLLM_MXFP4_BF16"), kTileStandIn)),
    flashinfer(by_parts(mxfp4("FLASHINFER_TRTLLM_MXFP4_MXFP8"), kTileStandIn)),
    flashinfer(by_parts(nvfp4<nvfp4_padding(16)>(deployment::before(deployment::kVllm2026_08), kNvfp4MayNeeds), kTileStandIn)),
    changed_in_november(flashinfer(by_parts(nvfp4<nvfp4_padding(64)>(deployment::since(deployment::kVllm2026_08), {}), kTileStandIn)),
                        "gate and up are padded each, H to 512 for activations quantized by token without a gate",
                        "Q/flashinfer_utils.py align_fp4_moe_weights_for_fi, Q/flashinfer_fp4_moe.py trtllm_nvfp4_hidden_alignment"),
    changed_in_november(flashinfer(with_padding(
                            fp8(layout::WeightFormat::fp8_tensor,
                                "w13 rows up 0, gate 0, up 1, .. of the halves padded at the end of the matrix; all rows shuffled in blocks of 32",
                                kTensorNeeds, build_fp8_tensor),
                            kFp8TensorPadding)),
                        kEachHalfPadded, kEachHalfSource),
    flashinfer(by_parts(
        with_raised_scales(fp8(layout::WeightFormat::fp8_block,
                               "w13 and its scales up then gate; rows shuffled in blocks of 16, columns in blocks of 128; scales at least 1e-10",
                               kBlockNeeds, build_fp8_block)),
        "scales were not recorded")),
    changed_in_november(flashinfer(by_parts(fp8(layout::WeightFormat::mxfp8,
                                                "w13 rows up 0, gate 0, up 1, ..; all rows shuffled in blocks of 32; scales in the 128x4 tile",
                                                kMxfp8Needs, build_mxfp8),
                                            kTileStandIn)),
                        "I is padded to 128 and H to 256", "Q/flashinfer_utils.py align_mxfp8_moe_weights_for_fi_trtllm"),
};

}  // namespace

constinit const std::span<const BackendLayout> kTrtllmLayouts{kRows};

}  // namespace mx::families
