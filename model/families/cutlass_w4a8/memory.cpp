// W4A8 with CUTLASS on sm90: int4 weights re-coded and reordered, group scales as e4m3 in eight multiples, a channel scale per row.

#include "model/families/memory.hpp"

#include <array>

#include "model/families/casts.hpp"
#include "model/families/cutlass_w4a8/family.hpp"
#include "model/families/cutlass_w4a8/values.hpp"
#include "model/families/ran.hpp"
#include "model/families/row_blocks.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::families {
namespace {

constexpr std::array<Need, 3> kNeeds{{
    {Quantity::hidden, Rule::multiple_of, 256, "the method asserts it"},
    {Quantity::intermediate, Rule::multiple_of, 256, "the method asserts it"},
    {Quantity::padding, Rule::equals, 0, "the engine rounds no size up"},
}};

layout::TensorPlan build(layout::Role role, const Setting& setting) {
  if (layout::is_weight(role)) {
    layout::Layout layout = loaded_rows(role, setting, 4);
    if (fault::planted(fault::Fault::w4a8_rows_padded)) layout.pad("rows", layout.view()[1].extent + 16, layout::PadContent::zero);
    return {blocks::w4a8_reorder(layout, "rows", "K"), &cast_named("uint4b8_to_w4a8")};
  }
  if (!layout::is_scale(role)) return {loaded_rows(role, setting, layout::unit_bits(role, setting.form.format)), &layout::kKeep};
  layout::Layout layout = loaded_rows(role, setting, 64);  // eight codes each
  return {layout.permute({"E", "G", "rows"}), &layout::kKeep};
}

struct ScaleRoles {
  layout::Role group;
  layout::Role channel;
};
constexpr std::array<ScaleRoles, 2> kScaleRoles{
    {{layout::Role::w13_weight_scale, layout::Role::w13_channel_scale}, {layout::Role::w2_weight_scale, layout::Role::w2_channel_scale}}};

/// Whether code * channel is the scale again.
bool is_kept(std::uint16_t scale, std::uint8_t code, std::uint32_t channel) {
  return f32::mul(to_f32(code, kE4m3fn), channel) == std::uint32_t{scale} << 16;
}

/// Splits group scales into codes, eight of each, and channel scales.
void split_scales(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses) {
  for (const ScaleRoles& roles : kScaleRoles) {
    layout::Units& groups = units[static_cast<std::size_t>(roles.group)];
    const std::int64_t length = layout::logical_axes(roles.group, setting.sizes, setting.form).back().extent;
    const std::int64_t rows = static_cast<std::int64_t>(groups.bytes.size()) / 2 / length;
    layout::Units expanded{64, std::vector<std::uint8_t>(groups.bytes.size() * 4)};
    layout::Units channels{32, std::vector<std::uint8_t>(static_cast<std::size_t>(rows) * 4)};
    std::vector<std::uint16_t> row(static_cast<std::size_t>(length));
    std::vector<std::uint8_t> codes(row.size());
    std::int64_t lost = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::size_t g = 0; g < row.size(); ++g)
        row[g] = static_cast<std::uint16_t>(layout::get_grain(groups.bytes, r * length + static_cast<std::int64_t>(g), 16));
      const std::uint32_t channel = w4a8_quantize_scales(row, codes);
      layout::set_grain(channels.bytes, r, 32, channel);
      for (std::size_t g = 0; g < row.size(); ++g) {
        layout::set_grain(expanded.bytes, r * length + static_cast<std::int64_t>(g), 64, w4a8_expand(codes[g]));
        lost += is_kept(row[g], codes[g], channel) ? 0 : 1;
      }
    }
    if (lost > 0) losses.push_back({roles.group, "bf16 scales are rounded to e4m3 times a channel scale", lost});
    groups = std::move(expanded);
    units[static_cast<std::size_t>(roles.channel)] = std::move(channels);
  }
}

constexpr std::array kChannelScales{layout::Role::w13_channel_scale, layout::Role::w2_channel_scale};

constexpr std::array<BackendLayout, 1> kRows{{
    {.format = layout::WeightFormat::int4,
     .backend = "CUTLASS",
     .family = "cutlass_w4a8",
     .summary = "weights re-coded and in blocks of 16 rows by 32 columns; group scales [K/128, N] in e4m3, eight multiples each; channel scales fp32",
     .engines = deployment::since(deployment::kVllm2026_05),
     .standard_order = deployment::since(deployment::kVllm2026_05),
     .gpt_oss_order = deployment::kNever,
     .takes_not_gated = false,
     .needs = kNeeds,
     .build = build,
     .values = split_scales,
     .undo_values = nullptr,
     .source = {"vllm-project/vllm",
                "vllm/model_executor/layers/quantization/compressed_tensors/compressed_tensors_moe/compressed_tensors_moe_w4a8_fp8.py",
                "process_weights_after_loading", "017e9f4448b700e85ee16023287b025693c72b9e"},
     .ran = {.grounds = Grounds::run_by_parts, .stand_ins = "the CUTLASS operators"},
     .adds = kChannelScales},
}};

}  // namespace

constinit const std::span<const BackendLayout> kCutlassW4a8Layouts{kRows};

}  // namespace mx::families
