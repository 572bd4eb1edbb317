#include "model/families/aiter/blocks.hpp"

#include <string>

#include "model/families/building_block.hpp"
#include "model/families/triton_kernels/blocks.hpp"
#include "model/fault.hpp"

namespace mx::families::blocks {
namespace {

constexpr std::int64_t kChunkBits = 128;  // what a lane loads at once
constexpr std::int64_t kLanes = 16;

}  // namespace

std::int64_t aiter_weight_columns(int unit_bits) { return unit_bits < 8 ? 32 * 8 / unit_bits : 32; }

layout::Layout& aiter_weight(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  const std::int64_t bits = layout.grain_bits();
  split_off(layout, rows, {{"lane", kLanes}});
  split_off(layout, cols, {{"chunk", aiter_weight_columns(layout.grain_bits()) * bits / kChunkBits}, {"unit", kChunkBits / bits}});
  if (fault::planted(fault::Fault::aiter_chunks_in_lanes)) return order(layout, {rows, cols, "lane", "chunk", "unit"});
  return order(layout, {rows, cols, "chunk", "lane", "unit"});
}

layout::Layout& aiter_weight_a16w4(layout::Layout& layout, std::string_view rows, std::string_view cols, bool gate_up) {
  if (gate_up) layout.split(rows, extent_of(layout, rows) / 2, "half", std::string(rows));
  split_off(layout, rows, {{"lane", kLanes}});
  split_off(layout, cols, {{"chunk", 4}, {"unit", kChunkBits / layout.grain_bits()}});
  if (gate_up) return order(layout, {rows, "half", cols, "chunk", "lane", "unit"});
  return order(layout, {rows, cols, "chunk", "lane", "unit"});
}

layout::Layout& aiter_scale_a16w4(layout::Layout& layout, std::string_view rows, std::string_view cols, bool gate_up) {
  pad_to_multiple(layout, cols, 8, layout::PadContent::neutral);
  if (gate_up) {
    layout.split(rows, extent_of(layout, rows) / 2, "pair", std::string(rows));
    split_off(layout, rows, {{"lane", kLanes}});
  } else {
    split_off(layout, rows, {{"pair", 2}, {"lane", kLanes}});
  }
  split_off(layout, cols, {{"half", 2}, {"quarter", 4}});
  return order(layout, {rows, cols, "quarter", "lane", "half", "pair"});
}

layout::Layout& aiter_e8m0(layout::Layout& layout, std::string_view batch, std::string_view rows, std::string_view cols) {
  layout.merge({batch, rows}, std::string(rows));
  pad_to_multiple(layout, rows, 256, layout::PadContent::unwritten);
  pad_to_multiple(layout, cols, 8, layout::PadContent::unwritten);
  return cdna4_mx_scale(layout, rows, cols);
}

layout::Layout& tiles(layout::Layout& layout, std::string_view rows, std::string_view cols, std::int64_t height, std::int64_t width) {
  split_off(layout, rows, {{"row", height}});
  split_off(layout, cols, {{"col", width}});
  return order(layout, {rows, cols, "row", "col"});
}

}  // namespace mx::families::blocks
