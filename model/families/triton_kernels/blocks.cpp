#include "model/families/triton_kernels/blocks.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/families/building_block.hpp"
#include "model/fault.hpp"

namespace mx::families::blocks {
namespace {

using Name = std::string_view;

/// The bytes of a word for wgmma: rows 8 apart alternate, then the bytes 4 apart. Ends in [.., words, w1, w0, nibble, bit].
void mma3_words(layout::Layout& layout, Name rows, Name cols) {
  split_off(layout, cols, {{"y", 4}, {"w1", 2}, {"t1", 4}});
  order(layout, {rows, "t0", cols, "s0", "t1", "y", "w1", "w0", "nibble", "bit"});
}

/// The bytes of a word for mma: four neighbours of one row. Ends in [.., words, j, nibble, bit].
void mma2_words(layout::Layout& layout, Name rows, Name cols) {
  split_off(layout, cols, {{"w1", 2}, {"t1", 4}, {"j", 4}});
  order(layout, {rows, "t0", cols, "s0", "t1", "w1", "w0", "j", "nibble", "bit"});
}

struct MmaRow {
  std::int64_t version;
  void (*words)(layout::Layout& layout, Name rows, Name cols);
};
constexpr std::array<MmaRow, 2> kMma{{{2, mma2_words}, {3, mma3_words}}};

/// Source: HopperMXValueLayout.swizzle_data (3.5, 3.7), HopperMXValueLayoutTransformation.swizzle_data (2026-08). The rows of gpt-oss, 1440 bytes,
/// are whole in 3.5 and become 1472 bytes in the others.
constexpr std::array<HopperPadding, 3> kHopperPadding{{
    {TritonKernels::v3_5, 16, 32},
    {TritonKernels::v3_7, 64, 64},
    {TritonKernels::v2026_08, 256, 64},
}};

std::int64_t units_per_byte(const layout::Layout& layout) { return 8 / layout.grain_bits(); }

}  // namespace

const HopperPadding& hopper_padding(TritonKernels version) {
  if (fault::planted(fault::Fault::hopper_padding_of_later_release)) version = TritonKernels::v3_7;
  return *std::ranges::find(kHopperPadding, version, &HopperPadding::version);
}
bool pads_cdna4_scales(TritonKernels version) { return version != TritonKernels::v3_5; }
bool packs_row_pairs(TritonKernels version) { return version != TritonKernels::v3_5; }

layout::Layout& hopper_mx_value(layout::Layout& layout, Name rows, Name cols, TritonKernels version, std::int64_t mma_version) {
  const HopperPadding& padding = hopper_padding(version);
  pad_to_multiple(layout, rows, padding.rows, layout::PadContent::zero);
  pad_to_multiple(layout, cols, padding.row_bytes * units_per_byte(layout), layout::PadContent::zero);
  explode_bytes(layout, cols);
  split_off(layout, rows, {{"w0", 2}, {"t0", 4}, {"s0", 2}});
  std::ranges::find(kMma, mma_version, &MmaRow::version)->words(layout, rows, cols);
  return fp4word(layout);
}

layout::Layout& hopper_mx_scale(layout::Layout& layout, Name rows, Name cols, std::int64_t num_warps) {
  pad_to_multiple(layout, rows, 32 * num_warps, layout::PadContent::zero);
  pad_to_multiple(layout, cols, 2, layout::PadContent::zero);
  split_off(layout, rows, {{"i1", 2}, {"w", num_warps}, {"i3", 2}, {"i4", 8}});
  split_off(layout, cols, {{"k2", 2}});
  if (fault::planted(fault::Fault::hopper_scale_lanes_exchanged)) return order(layout, {rows, "w", cols, "i1", "i4", "i3", "k2"});
  return order(layout, {rows, "w", cols, "i1", "i4", "k2", "i3"});
}

layout::Layout& blackwell_mx_value(layout::Layout& layout, Name, Name cols, TritonKernels version) {
  const layout::PadContent content = version == TritonKernels::v3_5 ? layout::PadContent::zero : layout::PadContent::unwritten;
  return pad_to_multiple(layout, cols, 128 * units_per_byte(layout), content);
}

layout::Layout& blackwell_mx_scale(layout::Layout& layout, Name rows, Name cols) {
  pad_to_multiple(layout, cols, 8, layout::PadContent::zero);
  return sf128x4(layout, rows, cols);
}

layout::Layout& cdna4_mx_scale(layout::Layout& layout, Name rows, Name cols) {
  pad_to_multiple(layout, rows, 32, layout::PadContent::zero);
  pad_to_multiple(layout, cols, 8, layout::PadContent::zero);
  split_off(layout, rows, {{"i", 2}, {"r", 16}});
  split_off(layout, cols, {{"j", 2}, {"q", 4}});
  if (fault::planted(fault::Fault::cdna4_pairs_exchanged)) return order(layout, {rows, cols, "q", "r", "i", "j"});
  return order(layout, {rows, cols, "q", "r", "j", "i"});
}

layout::Layout& gfx1250_mx_scale(layout::Layout& layout, Name rows, Name cols) {
  const std::int64_t width = std::min<std::int64_t>(extent_of(layout, cols), 4);
  pad_to_multiple(layout, rows, 128, layout::PadContent::zero);
  pad_to_multiple(layout, cols, width, layout::PadContent::zero);
  split_off(layout, rows, {{"i", 4}, {"r", 32}});
  split_off(layout, cols, {{"q", width}});
  return order(layout, {rows, cols, "r", "i", "q"});
}

}  // namespace mx::families::blocks
