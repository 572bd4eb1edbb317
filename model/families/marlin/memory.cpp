// Marlin: weight-only kernels for devices without the formats' own instructions. Rows stay in order; weights lie as the lanes of a warp read them,
// scales along N first.

#include "model/families/memory.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/families/building_block.hpp"
#include "model/families/casts.hpp"
#include "model/families/fragments.hpp"
#include "model/families/marlin/family.hpp"
#include "model/families/marlin/values.hpp"
#include "model/families/ran.hpp"
#include "model/fault.hpp"

namespace mx::families {
namespace {

using blocks::extent_of;

/// What a checkpoint's format is to Marlin.
struct FormatRow {
  layout::WeightFormat format;
  int weight_bits;
  std::int64_t group;        ///< elements of a row that share a scale, 0: all of them
  ConverterPadding padding;  ///< since 2026-08; each shard at its own end
};
// Source: spec layouts 6.4 and 6.5. A block of 128 x 128 makes the rows that I is rounded up to lcm(64, 128).
constexpr std::array<FormatRow, 6> kFormats{{
    {layout::WeightFormat::mxfp4, 4, 32, {}},
    {layout::WeightFormat::nvfp4, 4, 16, {.gated = 64, .not_gated = 64, .wide = 128, .narrow = 128}},
    {layout::WeightFormat::mxfp8, 8, 32, {.gated = 64, .not_gated = 64}},
    {layout::WeightFormat::fp8_tensor, 8, 0, {.gated = 64, .not_gated = 64}},
    {layout::WeightFormat::fp8_channel, 8, 0, {.gated = 64, .not_gated = 64}},
    {layout::WeightFormat::fp8_block, 8, 128, {.gated = 128, .not_gated = 128}},
}};

constexpr const FormatRow& row_of(layout::WeightFormat format) { return *std::ranges::find(kFormats, format, &FormatRow::format); }

constexpr ConverterPadding padding_of(layout::WeightFormat format, deployment::Engine engine) {
  return deployment::since(deployment::kVllm2026_08).has(engine) ? row_of(format).padding : ConverterPadding{};
}

/// I after the converter's own padding.
std::int64_t padded_intermediate(const Setting& setting) { return padded_by(padding_of(setting.form.format, setting.engine), setting).intermediate; }

bool is_a_8bit(const Setting& setting) { return setting.input_dtype != InputDtype::none; }

/// A loaded tensor as [E, rows, cols], cols being 1 where it has no columns.
layout::Layout matrix(layout::Layout layout, bool has_columns) {
  if (layout.view().size() == 1) layout.split("E", 1, "E", "rows");
  std::vector<std::string> names;
  for (std::size_t i = 1; i + (has_columns ? 1 : 0) < layout.view().size(); ++i) names.push_back(layout.view()[i].name);
  const std::vector<std::string_view> rows(names.begin(), names.end());
  layout.merge(std::span<const std::string_view>(rows), "rows");
  if (!has_columns) return layout.split("rows", 1, "rows", "cols");
  const std::string last = layout.view().back().name;
  return layout.merge({last}, "cols");
}

/// Zero rows at the end of each shard of w13, zero columns at the end of w2. `columns` is what w2's columns become.
layout::Layout& pad_intermediate(layout::Layout& layout, layout::Role role, const Setting& setting, std::int64_t columns) {
  const std::int64_t intermediate = padded_intermediate(setting);
  if (intermediate == setting.padded.intermediate) return layout;
  if (!layout::is_w13(role)) return extent_of(layout, "cols") == columns ? layout : layout.pad("cols", columns, layout::PadContent::zero);
  if (fault::planted(fault::Fault::marlin_shards_padded_together))
    return layout.pad("rows", (setting.form.gated ? 2 : 1) * intermediate, layout::PadContent::zero);
  layout.split("rows", setting.padded.intermediate, "shard", "rows").pad("rows", intermediate, layout::PadContent::zero);
  return layout.merge({"shard", "rows"}, "rows");
}

/// Reduction length of a weight as the kernel sees it.
std::int64_t depth_of(layout::Role role, const Setting& setting) {
  return layout::is_w13(role) ? setting.padded.hidden : padded_intermediate(setting);
}

layout::Layout weight(layout::Role role, const Setting& setting) {
  const int bits = row_of(setting.form.format).weight_bits;
  layout::Layout layout = matrix(layout::loaded(role, setting.sizes, setting.padded, setting.form), true);
  pad_intermediate(layout, role, setting, padded_intermediate(setting));
  return blocks::fragment_order(layout, "rows", "cols", {.weight_bits = bits, .activation_bits = is_a_8bit(setting) ? 8 : 16});
}

/// [E, rows, cols] -> [E, cols, rows] in blocks.
layout::Layout& permute_scales(layout::Layout& layout, layout::Role role, const Setting& setting) {
  const std::int64_t group = row_of(setting.form.format).group;
  const bool grouped = group != 0 && group < depth_of(role, setting) && !is_a_8bit(setting);
  layout.permute({"E", "cols", "rows"});
  return grouped ? blocks::scale_blocks_of_64(layout, "rows") : blocks::scale_blocks_of_32(layout, "rows");
}

/// Scales of one byte for each group of a row.
layout::Layout byte_scale(layout::Role role, const Setting& setting) {
  layout::Layout layout = matrix(layout::loaded(role, setting.sizes, setting.padded, setting.form), true);
  pad_intermediate(layout, role, setting, padded_intermediate(setting) / setting.padded.group);
  permute_scales(layout, role, setting);
  return is_a_8bit(setting) ? layout : blocks::swap_middle_of_four(layout, "rows");
}

layout::Layout as_loaded(layout::Role role, const Setting& setting) { return layout::loaded(role, setting.sizes, setting.padded, setting.form); }

const layout::Cast& scale_cast(const Setting& setting) {
  const bool via_fp16 = setting.params_dtype == ParamsDtype::fp16;
  if (is_a_8bit(setting)) return cast_named(via_fp16 ? "e8m0_via_fp16_plus_6" : "e8m0_plus_6");
  return via_fp16 ? cast_named("e8m0_via_fp16") : layout::kKeep;
}

layout::TensorPlan build_mxfp4(layout::Role role, const Setting& setting) {
  if (layout::is_weight(role)) return {weight(role, setting), &layout::kKeep};
  if (layout::is_scale(role)) return {byte_scale(role, setting), &scale_cast(setting)};
  layout::Layout bias = matrix(as_loaded(role, setting), false);
  blocks::scale_blocks_of_32(bias, "rows");
  return {std::move(bias), setting.params_dtype == ParamsDtype::fp16 ? &cast_named("bf16_to_fp16") : &layout::kKeep};
}

layout::TensorPlan build_nvfp4(layout::Role role, const Setting& setting) {
  if (layout::is_weight(role)) return {weight(role, setting), &layout::kKeep};
  return {layout::is_scale(role) ? byte_scale(role, setting) : as_loaded(role, setting), &layout::kKeep};
}

layout::TensorPlan build_mxfp8(layout::Role role, const Setting& setting) {
  if (layout::is_weight(role)) return {weight(role, setting), &layout::kKeep};
  if (layout::is_scale(role)) return {byte_scale(role, setting), &scale_cast(setting)};
  return {as_loaded(role, setting), &layout::kKeep};
}

layout::TensorPlan build_fp8(layout::Role role, const Setting& setting) {
  if (layout::is_weight(role)) return {weight(role, setting), &layout::kKeep};
  if (!layout::is_scale(role)) return {as_loaded(role, setting), &layout::kKeep};
  constexpr int kParamsBits = 16;
  layout::Layout given = layout::loaded(role, setting.sizes, setting.padded, setting.form, kParamsBits);
  return {marlin::fp8_scale_layout(std::move(given), role, setting), &layout::kKeep};
}

bool not_gated(const Setting& setting) { return !setting.form.gated; }
bool fp16_params(const Setting& setting) { return is_a_8bit(setting) && setting.params_dtype == ParamsDtype::fp16; }
bool bf16_params(const Setting& setting) { return is_a_8bit(setting) && setting.params_dtype == ParamsDtype::bf16; }

constexpr std::int64_t kTileN = 64;
constexpr Need kSixteenBits{Quantity::activation_dtype, Rule::equals, static_cast<std::int64_t>(InputDtype::none),
                            "only 16-bit activations are supported"};
constexpr Need kW2Rows{Quantity::w2_rows, Rule::multiple_of, kTileN, "gptq_marlin_repack checks size_n of w2 against its tile"};
constexpr Need kW13Rows{Quantity::w13_rows, Rule::multiple_of, kTileN, "gptq_marlin_repack checks size_n of w13 against its tile"};
constexpr Need kHiddenTiles{Quantity::hidden, Rule::multiple_of, 16, "gptq_marlin_repack checks size_k of w13 against its tile"};
constexpr Need kDepthTiles{Quantity::intermediate, Rule::multiple_of, 16, "gptq_marlin_repack checks size_k of w2 against its tile"};
constexpr Need kTwoShards{Quantity::intermediate, Rule::multiple_of, 64, "the padding takes the rows of w13 as two shards", not_gated};
constexpr Need kTwoShardsOfBlocks{Quantity::intermediate, Rule::multiple_of, 128, "the padding takes the rows of w13 as two shards", not_gated};

constexpr std::array<Need, 4> kMxfp4Needs{{
    {Quantity::activation_dtype, Rule::at_most, static_cast<std::int64_t>(InputDtype::float8_e4m3fn), "int8 activations are not supported"},
    kW2Rows,
    {Quantity::scale_byte, Rule::at_most, marlin::kLargestOffsetByte, "6 is added to every scale", bf16_params},
    {Quantity::scale_byte, Rule::at_most, 142, "larger scales are infinite in fp16, and 6 is added to every scale", fp16_params},
}};
constexpr std::array<Need, 2> kNvfp4Needs{{
    kSixteenBits,
    {Quantity::hidden, Rule::multiple_of, kTileN, "hidden sizes without a tile are not padded"},
}};
constexpr std::array<Need, 3> kNvfp4Needs2026_05{{kSixteenBits, kW13Rows, kW2Rows}};
constexpr std::array<Need, 4> kFp8Needs{{kSixteenBits, kTwoShards, kHiddenTiles, kW2Rows}};
constexpr std::array<Need, 4> kBlockNeeds{{kSixteenBits, kTwoShardsOfBlocks, kHiddenTiles, kW2Rows}};
constexpr std::array<Need, 5> kFp8Needs2026_05{{kSixteenBits, kHiddenTiles, kW13Rows, kDepthTiles, kW2Rows}};

constexpr std::string_view kAugustCommit = "017e9f4448b700e85ee16023287b025693c72b9e";
constexpr std::string_view kMayCommit = "7e1b45a09252a5b513cd83116aa7a2f310220c34";

struct Hooks {
  void (*values)(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses) = nullptr;
  void (*undo_values)(layout::LayerUnits& units, const Setting& setting) = nullptr;
};
constexpr Hooks kNoHooks{};
constexpr Hooks kNvfp4Hooks{marlin::nvfp4_values, marlin::nvfp4_values_back};
constexpr Hooks kFp8Hooks{marlin::fp8_values, marlin::fp8_values_back};

/// MXFP4: the same conversion in both versions.
constexpr BackendLayout mxfp4_row(std::string_view backend) {
  return {.format = layout::WeightFormat::mxfp4,
          .backend = backend,
          .family = "marlin",
          .summary = "rows as loaded; weights in mma fragments; scales along N in blocks, through the parameters' dtype; biases in blocks of 32",
          .engines = deployment::since(deployment::kVllm2026_05),
          .standard_order = deployment::since(deployment::kVllm2026_05),
          .gpt_oss_order = deployment::since(deployment::kVllm2026_05),
          .takes_not_gated = false,
          .needs = kMxfp4Needs,
          .build = build_mxfp4,
          .values = nullptr,
          .undo_values = nullptr,
          .source = {"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/marlin_utils_fp4.py", "prepare_moe_mxfp4_layer_for_marlin",
                     kAugustCommit}};
}

/// Other formats: one row for each version, which differ in the padding of I and so in what they refuse.
constexpr BackendLayout row(layout::WeightFormat format, deployment::Engine engine, std::string_view summary, std::span<const Need> needs,
                            layout::TensorPlan (*build)(layout::Role role, const Setting& setting), const Hooks& hooks, std::string_view path,
                            std::string_view symbol, bool takes_interleaved = true) {
  const deployment::Versions engines =
      engine == deployment::kVllm2026_08 ? deployment::since(deployment::kVllm2026_08) : deployment::before(deployment::kVllm2026_08);
  return {.format = format,
          .backend = "MARLIN",
          .family = "marlin",
          .summary = summary,
          .engines = engines,
          .standard_order = engines,
          .gpt_oss_order = takes_interleaved ? engines : deployment::kNever,
          .takes_not_gated = true,
          .needs = needs,
          .padding = padding_of(format, engine),
          .build = build,
          .values = hooks.values,
          .undo_values = hooks.undo_values,
          .source = {"vllm-project/vllm", path, symbol, engine == deployment::kVllm2026_08 ? kAugustCommit : kMayCommit}};
}

constexpr std::string_view kFp4Path = "vllm/model_executor/layers/quantization/utils/marlin_utils_fp4.py";
constexpr std::string_view kFp8Path = "vllm/model_executor/layers/quantization/utils/marlin_utils_fp8.py";

constexpr BackendLayout nvfp4_row(deployment::Engine engine, std::span<const Need> needs) {
  return row(layout::WeightFormat::nvfp4, engine,
             "as MXFP4 with groups of 16; scales S0E5M3 times a factor of the tensor, global scales divided by it", needs, build_nvfp4, kNvfp4Hooks,
             kFp4Path, "prepare_nvfp4_moe_layer_for_marlin");
}
constexpr BackendLayout mxfp8_row(deployment::Engine engine, std::span<const Need> needs) {
  return row(layout::WeightFormat::mxfp8, engine, "weights of 8 bits in mma fragments; scales as those of MXFP4", needs, build_mxfp8, kNoHooks,
             kFp8Path, "prepare_mxfp8_moe_layer_for_marlin");
}
/// A block's scale is repeated over 128 neighbouring rows. Where gate and up alternate those are of both: a scale of either would count for half of
/// the other's, so that order is not taken with blocks.
constexpr BackendLayout fp8_row(layout::WeightFormat format, deployment::Engine engine, std::span<const Need> needs) {
  return row(format, engine, "weights of 8 bits in mma fragments; scales repeated to one per row, in the parameters' dtype with the exponent bias",
             needs, build_fp8, kFp8Hooks, kFp8Path, "prepare_fp8_moe_layer_for_marlin", format != layout::WeightFormat::fp8_block);
}

/// Formats beside MXFP4 were run in standard order alone.
constexpr BackendLayout other(BackendLayout row) { return by_parts(run_in_standard_order(row), kMarlinStandIn); }

constexpr std::array<BackendLayout, 12> kRows{{
    by_parts(mxfp4_row("MARLIN"), kMarlinStandIn),
    by_parts(run_in_gpt_oss_order(mxfp4_row("BATCHED_MARLIN")), kMarlinStandIn),
    other(nvfp4_row(deployment::kVllm2026_05, kNvfp4Needs2026_05)),
    other(nvfp4_row(deployment::kVllm2026_08, kNvfp4Needs)),
    other(mxfp8_row(deployment::kVllm2026_05, kFp8Needs2026_05)),
    other(mxfp8_row(deployment::kVllm2026_08, kFp8Needs)),
    other(fp8_row(layout::WeightFormat::fp8_tensor, deployment::kVllm2026_05, kFp8Needs2026_05)),
    other(fp8_row(layout::WeightFormat::fp8_tensor, deployment::kVllm2026_08, kFp8Needs)),
    other(fp8_row(layout::WeightFormat::fp8_channel, deployment::kVllm2026_05, kFp8Needs2026_05)),
    other(fp8_row(layout::WeightFormat::fp8_channel, deployment::kVllm2026_08, kFp8Needs)),
    other(run_gated(fp8_row(layout::WeightFormat::fp8_block, deployment::kVllm2026_05, kFp8Needs2026_05))),
    other(run_gated(fp8_row(layout::WeightFormat::fp8_block, deployment::kVllm2026_08, kBlockNeeds))),
}};

}  // namespace

layout::Layout marlin::fp8_scale_layout(layout::Layout given, layout::Role role, const Setting& setting) {
  const std::int64_t group = row_of(setting.form.format).group;
  layout::Layout layout = matrix(std::move(given), group != 0);
  const std::int64_t rows = layout::is_w13(role) ? (setting.form.gated ? 2 : 1) * setting.padded.intermediate : setting.padded.hidden;
  const std::int64_t scales = extent_of(layout, "rows");
  const std::int64_t times = group != 0 ? group : rows / scales;
  if (times > 1) layout.repeat("rows", times);
  if (extent_of(layout, "rows") > rows) layout.slice("rows", 0, rows);
  pad_intermediate(layout, role, setting, group != 0 ? padded_intermediate(setting) / group : 1);
  return permute_scales(layout, role, setting);
}

constinit const std::span<const BackendLayout> kMarlinLayouts{kRows};

}  // namespace mx::families
