// FP8 and MXFP8 (e4m3 weights) for FlashInfer's kernels and for XPU.

#include <array>

#include "model/families/memory.hpp"
#include "model/families/row_blocks.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/f32.hpp"

namespace mx::layout {
namespace {

constexpr std::string_view kRowsAxis = "rows";

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

Layout loaded_units(Role role, const Setting& setting) { return loaded_rows(role, setting, unit_bits(role, setting.form.format)); }

/// Scales per tensor: weights padded behind the whole matrix, then the halves of the padded matrix swapped.
Layout padded_up_first(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  if (!is_weight(role)) return layout;
  const std::int64_t intermediate = rounded_up(setting.padded.intermediate, setting.form.gated ? 16 : 128);
  if (!is_w13(role)) return intermediate == setting.padded.intermediate ? layout : layout.pad("K", intermediate, PadContent::zero);
  const std::int64_t rows = (setting.form.gated ? 2 : 1) * intermediate;
  if (rows != blocks::extent_of(layout, kRowsAxis)) layout.pad(kRowsAxis, rows, PadContent::zero);
  return setting.form.gated ? blocks::swap_halves(layout, kRowsAxis) : layout;
}

TensorPlan build_tensor_cutlass(Role role, const Setting& setting) { return {padded_up_first(role, setting), &kKeep}; }

TensorPlan build_tensor_trtllm(Role role, const Setting& setting) {
  Layout layout = padded_up_first(role, setting);
  if (!is_weight(role)) return {std::move(layout), &kKeep};
  if (is_w13(role) && setting.form.gated) blocks::alternate_halves(layout, kRowsAxis, 1);
  return {blocks::shuffle_a128(layout, kRowsAxis), &kKeep};
}

/// Weights and scales (of blocks or of groups) with up before gate.
Layout up_first(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  const bool moves = is_weight(role) || (is_scale(role) && !fault::planted(fault::Fault::block_scales_not_swapped));
  const bool swaps = is_w13(role) && setting.form.gated && moves;
  return swaps ? blocks::swap_halves(layout, kRowsAxis) : layout;
}

TensorPlan build_block_cutlass(Role role, const Setting& setting) { return {up_first(role, setting), &kKeep}; }

TensorPlan build_block_trtllm(Role role, const Setting& setting) {
  Layout layout = up_first(role, setting);
  if (!is_weight(role)) return {std::move(layout), &kKeep};
  blocks::shuffle_a64(layout, kRowsAxis).split("K", 128, "K.block", "K");
  return {layout.permute({"E", "K.block", "rows", "K"}), &kKeep};
}

TensorPlan build_mxfp8_trtllm(Role role, const Setting& setting) {
  Layout layout = up_first(role, setting);
  if (!is_weight(role) && !is_scale(role)) return {std::move(layout), &kKeep};
  if (is_w13(role) && setting.form.gated) blocks::alternate_halves(layout, kRowsAxis, 1);
  blocks::shuffle_a128(layout, kRowsAxis);
  if (is_scale(role)) blocks::sf128x4(layout, kRowsAxis, "G");
  return {std::move(layout), &kKeep};
}

/// Weights, and scales with rows and columns, transposed.
TensorPlan build_transposed(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  if (is_bias(role) || layout.view().size() < 3) return {std::move(layout), &kKeep};
  const std::string columns = layout.view().back().name;
  return {layout.permute({"E", columns, "rows"}), &kKeep};
}

/// 1e-10 in fp32: below it a kernel of FlashInfer's made NaN of block scales.
constexpr std::uint32_t kSmallestBlockScale = 0x2EDBE6FFU;

void clamp_scales(LayerUnits& units, const Setting&, std::vector<Loss>& losses) {
  for (Role role : {Role::w13_weight_scale, Role::w2_weight_scale}) {
    Units& scales = units[static_cast<std::size_t>(role)];
    std::int64_t raised = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(scales.bytes.size()) / 4; ++i) {
      const auto scale = static_cast<std::uint32_t>(get_grain(scales.bytes, i, 32));
      if (!f32::less(scale, kSmallestBlockScale)) continue;
      set_grain(scales.bytes, i, 32, kSmallestBlockScale);
      ++raised;
    }
    if (raised > 0) losses.push_back({role, "block scales below 1e-10 become 1e-10", raised});
  }
}

/// Scales that were not raised are those of the checkpoint.
void keep_scales(LayerUnits&, const Setting&) {}

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
    {Quantity::w13_groups, Rule::multiple_of, 4, "the interleaved scales of w13 must fit the shape of the scales"},
    {Quantity::w2_groups, Rule::multiple_of, 4, "the interleaved scales of w2 must fit the shape of the scales"},
}};

constexpr std::string_view kCommit = "017e9f4448b700e85ee16023287b025693c72b9e";
constexpr Source kFlashinfer{"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/flashinfer_utils.py", "prepare_fp8_moe_layer_for_fi",
                             kCommit};
constexpr Source kXpu{"vllm-project/vllm", "vllm/model_executor/layers/fused_moe/oracle/fp8.py", "convert_to_fp8_moe_kernel_format", kCommit};

constexpr BackendLayout row(WeightFormat format, std::string_view backend, std::string_view summary, std::span<const Need> needs,
                            TensorPlan (*build)(Role, const Setting&), const Source& source) {
  return {.format = format,
          .backend = backend,
          .family = "fp8",
          .summary = summary,
          .engines = since(kVllm2026_05),
          .standard_order = since(kVllm2026_05),
          .gpt_oss_order = kNever,
          .takes_not_gated = true,
          .needs = needs,
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = source};
}

constexpr BackendLayout clamped(BackendLayout row) {
  row.values = clamp_scales;
  row.undo_values = keep_scales;
  return row;
}
constexpr BackendLayout gated_only(BackendLayout row) {
  row.takes_not_gated = false;
  return row;
}

constexpr std::string_view kTransposed = "weights and scales with rows and columns transposed, [K, N]";

constexpr std::array<BackendLayout, 8> kRows{
    row(WeightFormat::fp8_tensor, "FLASHINFER_CUTLASS", "w13 rows up then gate, of the halves padded at the end of the matrix", {},
        build_tensor_cutlass, kFlashinfer),
    row(WeightFormat::fp8_tensor, "FLASHINFER_TRTLLM",
        "w13 rows up 0, gate 0, up 1, .. of the halves padded at the end of the matrix; all rows shuffled in blocks of 32", kTensorNeeds,
        build_tensor_trtllm, kFlashinfer),
    clamped(row(WeightFormat::fp8_block, "FLASHINFER_CUTLASS", "w13 and its scales up then gate; scales at least 1e-10", {}, build_block_cutlass,
                kFlashinfer)),
    clamped(row(WeightFormat::fp8_block, "FLASHINFER_TRTLLM",
                "w13 and its scales up then gate; rows shuffled in blocks of 16, columns in blocks of 128; scales at least 1e-10", kBlockNeeds,
                build_block_trtllm, kFlashinfer)),
    row(WeightFormat::mxfp8, "FLASHINFER_TRTLLM", "w13 rows up 0, gate 0, up 1, ..; all rows shuffled in blocks of 32; scales in the 128x4 tile",
        kMxfp8Needs, build_mxfp8_trtllm, kFlashinfer),
    gated_only(row(WeightFormat::fp8_tensor, "XPU", kTransposed, {}, build_transposed, kXpu)),
    gated_only(row(WeightFormat::fp8_channel, "XPU", kTransposed, {}, build_transposed, kXpu)),
    gated_only(row(WeightFormat::fp8_block, "XPU", kTransposed, {}, build_transposed, kXpu)),
};

}  // namespace

std::span<const BackendLayout> fp8_layouts() { return kRows; }

}  // namespace mx::layout
