// Humming: Marlin's fragments with more cases. Rows stay as loaded; the engine pads N to 256 and K to 128 before anything else, with zeros and with
// scales of one. Source: inclusionAI/humming, humming/include/humming/kernel.

#include "model/families/memory.hpp"

#include <array>

#include "model/families/building_block.hpp"
#include "model/families/fragments.hpp"
#include "model/families/humming/blocks.hpp"
#include "model/families/humming/family.hpp"
#include "model/families/humming/values.hpp"
#include "model/families/memory_rows.hpp"
#include "model/families/row_blocks.hpp"
#include "model/fault.hpp"

namespace mx::families {
namespace {

using humming::is_a_8bit;
using humming::kPaddedColumns;
using humming::kPaddedRows;

/// Kernels on sm90 use wgmma, all others mma; the later release moves weights alike for both.
bool is_transposed(const Setting& setting) { return setting.arch == Arch::sm90 && !is_a_8bit(setting) && humming_of(setting) < Humming::v0_1_19; }

/// 8-bit activations with a scale for every 128 of K, of which the later release has kernels.
bool has_group_128(const Setting& setting) {
  return setting.of<HummingParameters>().group_128 && setting.input_dtype == InputDtype::float8_e4m3fn && humming_of(setting) >= Humming::v0_1_19;
}

blocks::Fragments fragments_of(const Setting& setting) {
  // Activations of 8 bits mean fused scales or mxmma, for which the halves of a fragment stay as they are.
  return {.weight_bits = layout::unit_bits(layout::Role::w13_weight, setting.form.format),
          .activation_bits = is_a_8bit(setting) ? 8 : 16,
          .transposed = is_transposed(setting)};
}

/// The loaded tensor [E, rows, cols] or [E, rows], padded.
layout::Layout padded(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_rows(role, setting, layout::unit_bits(role, setting.form.format));
  const bool has_one = layout::is_scale(role) && setting.form.format != layout::WeightFormat::nvfp4;  // e4m3 scales are padded with zero
  const layout::PadContent content =
      has_one && !fault::planted(fault::Fault::humming_scales_padded_with_zero) ? layout::PadContent::neutral : layout::PadContent::zero;
  blocks::pad_to_multiple(layout, "rows", kPaddedRows, content);
  if (layout::is_weight(role)) blocks::pad_to_multiple(layout, "K", kPaddedColumns, layout::PadContent::zero);
  if (layout::is_scale(role)) blocks::pad_to_multiple(layout, "G", kPaddedColumns / setting.padded.group, content);
  return layout;
}

layout::TensorPlan build_weight(layout::Role role, const Setting& setting) {
  layout::Layout layout = padded(role, setting);
  blocks::fragment_order(layout, "rows", "K", fragments_of(setting));
  if (has_group_128(setting)) blocks::pack_k(layout, "rows", "K");
  if (humming::splits_signs(setting)) blocks::magnitudes_in_value_order(layout);
  return {std::move(layout), &layout::kKeep};
}

layout::TensorPlan build_scale(layout::Role role, const Setting& setting) {
  if (humming::is_mxmma(setting)) {
    layout::Layout layout = padded(role, setting);
    blocks::split_off(layout, "rows", {{"half", 2}, {"row", 8}});
    blocks::split_off(layout, "G", {{"pair", 2}});
    return {layout.permute({"E", "G", "rows", "row", "half", "pair"}), &layout::kKeep};
  }
  layout::Layout layout = humming::fuses(setting) ? humming::fused_scales(role, setting) : padded(role, setting);
  layout.permute({"E", "G", "rows"});
  return {blocks::scale_blocks_of_64(layout, "rows"), &layout::kKeep};
}

layout::TensorPlan build(layout::Role role, const Setting& setting) {
  if (layout::is_weight(role)) return build_weight(role, setting);
  if (layout::is_scale(role)) return build_scale(role, setting);
  if (layout::is_bias(role)) {
    layout::Layout layout = padded(role, setting);
    return {blocks::scale_blocks_of_32(layout, "rows"), &layout::kKeep};
  }
  layout::Layout layout = humming::global_scales(role, setting);
  return {layout.view().size() == 1 ? layout : blocks::scale_blocks_of_32(layout, "rows"), &layout::kKeep};
}

/// MXFP8 and NVFP4: nothing is fused.
layout::TensorPlan build_groups(layout::Role role, const Setting& setting) {
  if (!layout::is_weight(role) && !layout::is_scale(role)) return {loaded_units(role, setting), &layout::kKeep};
  layout::Layout layout = padded(role, setting);
  if (layout::is_weight(role)) return {blocks::fragment_order(layout, "rows", "K", fragments_of(setting)), &layout::kKeep};
  layout.permute({"E", "G", "rows"});
  return {blocks::scale_blocks_of_64(layout, "rows"), &layout::kKeep};
}

/// One scale for a matrix, or one each for gate and up.
bool covers_tensor(const Setting& setting) {
  return setting.form.format == layout::WeightFormat::fp8_tensor || setting.form.format == layout::WeightFormat::fp8_pair;
}

/// FP8: scales in bf16, one for each row, of blocks also for each 128 of K; without groups they multiply the result.
layout::TensorPlan build_fp8(layout::Role role, const Setting& setting) {
  if (layout::is_bias(role)) return {loaded_units(role, setting), &layout::kKeep};
  if (layout::is_weight(role)) {
    layout::Layout layout = padded(role, setting);
    if (is_a_8bit(setting)) return {blocks::byte_columns(layout, "rows", "K"), &layout::kKeep};
    return {blocks::fragment_order(layout, "rows", "K", fragments_of(setting)), &layout::kKeep};
  }
  layout::Layout layout = loaded_rows(role, setting, 16);
  const std::int64_t rows = layout::is_w13(role) ? 2 * setting.padded.intermediate : setting.padded.hidden;
  if (layout.view().size() == 1) layout.split("E", 1, "E", "rows");
  if (covers_tensor(setting)) layout.repeat("rows", rows / blocks::extent_of(layout, "rows"));
  if (setting.form.format == layout::WeightFormat::fp8_block) layout.repeat("rows", 128);
  if (blocks::extent_of(layout, "rows") > rows) layout.slice("rows", 0, rows);
  blocks::pad_to_multiple(layout, "rows", kPaddedRows, layout::PadContent::zero);
  if (setting.form.format != layout::WeightFormat::fp8_block) return {blocks::scale_blocks_of_32(layout, "rows"), &layout::kKeep};
  layout.permute({"E", "KB", "rows"});
  return {blocks::scale_blocks_of_64(layout, "rows"), &layout::kKeep};
}

bool has_no_group_128(const Setting& setting) { return !has_group_128(setting); }

constexpr Need kSixteenBits{Quantity::activation_dtype, Rule::equals, static_cast<std::int64_t>(InputDtype::none),
                            "weights of this format are converted for 16-bit activations"};
constexpr Need kSixteenBitsOrGroups{Quantity::activation_dtype, Rule::equals, static_cast<std::int64_t>(InputDtype::none),
                                    "weights in blocks are converted for 16-bit activations, since Humming 0.1.19 for e4m3 in groups of 128 too",
                                    has_no_group_128};
constexpr std::array<Need, 1> kGroupNeeds{kSixteenBits};
constexpr std::array<Need, 2> kBlockNeeds{
    {kSixteenBitsOrGroups, {Quantity::intermediate, Rule::multiple_of, 128, "the scales of gate and up are whole blocks"}}};

constexpr std::string_view kMxfp4Summary =
    "rows as loaded, N padded to 256 and K to 128; weights in mma fragments; scales along N in blocks of 64; for 8-bit activations scales small "
    "numbers beside a global one, but on sm120 since 2026-08 in pairs";
constexpr std::string_view kGroupSummary = "rows as loaded, N padded to 256 and K to 128; weights in mma fragments; scales along N in blocks of 64";
constexpr std::string_view kFp8Summary =
    "rows as loaded, N padded to 256 and K to 128; weights in mma fragments; scales bf16, one for each row, in blocks";

constexpr BackendLayout kMxfp4{
    .format = layout::WeightFormat::mxfp4,
    .backend = "HUMMING",
    .family = "humming",
    .summary = kMxfp4Summary,
    .engines = deployment::since(deployment::kVllm2026_05),
    .standard_order = deployment::since(deployment::kVllm2026_05),
    .gpt_oss_order = deployment::since(deployment::kVllm2026_05),
    .takes_not_gated = false,
    .needs = {},
    .build = build,
    .values = humming::fused_values,
    .undo_values = humming::fused_values_back,
    .source = {"mgoin/humming", "humming/layer.py", "HummingMethod.transform_humming_layer", "a6455de3edd09d8ee0f1fb657475606fd2f02532"},
    .ran = {.grounds = Grounds::run_by_parts,
            .stand_ins = "the repack of weights and scales, and what 8-bit activations make of MXFP4, restated from the kernels' text"},
    .calls_library = "humming"};

constexpr BackendLayout of_2026_08(layout::WeightFormat format, Build build, std::string_view summary, std::span<const Need> needs) {
  BackendLayout row = kMxfp4;
  row.format = format;
  row.summary = summary;
  row.engines = row.standard_order = deployment::since(deployment::kVllm2026_08);
  row.gpt_oss_order = deployment::kNever;
  row.needs = needs;
  row.build = build;
  row.values = nullptr;
  row.undo_values = nullptr;
  return row;
}
constexpr BackendLayout fp8(layout::WeightFormat format, std::span<const Need> needs) {
  BackendLayout row = of_2026_08(format, build_fp8, kFp8Summary, needs);
  row.values = humming::scales_to_bf16;
  row.undo_values = humming::scales_from_bf16;
  return row;
}

constexpr std::array<BackendLayout, 7> kRows{
    kMxfp4,
    of_2026_08(layout::WeightFormat::mxfp8, build_groups, kGroupSummary, kGroupNeeds),
    of_2026_08(layout::WeightFormat::nvfp4, build_groups, kGroupSummary, kGroupNeeds),
    fp8(layout::WeightFormat::fp8_tensor, kGroupNeeds),
    fp8(layout::WeightFormat::fp8_pair, kGroupNeeds),
    fp8(layout::WeightFormat::fp8_channel, kGroupNeeds),
    fp8(layout::WeightFormat::fp8_block, kBlockNeeds),
};

}  // namespace

constinit const std::span<const BackendLayout> kHummingLayouts{kRows};

}  // namespace mx::families
