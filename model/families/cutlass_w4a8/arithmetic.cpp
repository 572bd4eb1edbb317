// How W4A8's CUTLASS kernel computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>
#include <vector>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/cutlass_w4a8/family.hpp"
#include "model/families/cutlass_w4a8/values.hpp"
#include "model/layout/grains.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

struct Scales {
  layout::Role groups;
  layout::Role channels;
};
constexpr std::array<Scales, 2> kScales{
    {{layout::Role::w13_weight_scale, layout::Role::w13_channel_scale}, {layout::Role::w2_weight_scale, layout::Role::w2_channel_scale}}};

/// Group scales become eight multiples a group and a scale for each row, as the conversion makes them.
void split_group_scales(layout::LayerUnits& units, const layout::Sizes& sizes) {
  for (const auto& [group_role, channel_role] : kScales) {
    layout::Units& groups = units[static_cast<std::size_t>(group_role)];
    const std::int64_t length = (layout::is_w13(group_role) ? sizes.hidden : sizes.intermediate) / sizes.group;
    const std::int64_t rows = static_cast<std::int64_t>(groups.bytes.size()) / 2 / length;
    layout::Units multiples{64, std::vector<std::uint8_t>(static_cast<std::size_t>(rows * length) * 8)};
    layout::Units channels{32, std::vector<std::uint8_t>(static_cast<std::size_t>(rows) * 4)};
    std::vector<std::uint16_t> row(static_cast<std::size_t>(length));
    std::vector<std::uint8_t> codes(row.size());
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t g = 0; g < length; ++g)
        row[static_cast<std::size_t>(g)] = static_cast<std::uint16_t>(layout::get_grain(groups.bytes, r * length + g, 16));
      layout::set_grain(channels.bytes, r, 32, w4a8_quantize_scales(row, codes));
      for (std::int64_t g = 0; g < length; ++g)
        layout::set_grain(multiples.bytes, r * length + g, 64, w4a8_expand(codes[static_cast<std::size_t>(g)]));
    }
    units[static_cast<std::size_t>(channel_role)] = std::move(channels);
    groups = std::move(multiples);
  }
}

constexpr std::array kDifferences{KnownDifference{on_sm90, "about 10 % of an ordinary layer's outputs", kElsewhere}};

/// int4 codes choose among the eight multiples of each group's e4m3 scale that the conversion stored.
constexpr ExecutionRow w4a8() {
  ExecutionRow w4a8 =
      fp8_row(WeightFormat::int4, "CUTLASS", "CUTLASS", Grounds::assumed,
              "E/cutlass_moe.py CutlassExpertsW4A8Fp8; vllm csrc/quantization/cutlass_w4a8 (read); its sums are taken as those of FP8");
  w4a8.keyed = false;
  w4a8.epilogue = EpilogueScale::weight_first;
  w4a8.swiglu_oai = kOaiWired;
  w4a8.silu = kLimitedSilu;
  w4a8.prepare_scales = split_group_scales;
  w4a8.differences = kDifferences;
  return w4a8;
}

constexpr std::array kRows{w4a8()};

}  // namespace

constinit const std::span<const ExecutionRow> kCutlassW4a8Executions{kRows};

}  // namespace mx::families
