#include "model/layout/aiter_blocks.hpp"

#include <array>
#include <string>

#include "model/layout/stage.hpp"

namespace mx::layout::blocks {
namespace {

constexpr std::int64_t kChunkBits = 128;  // what a lane loads at once
constexpr std::int64_t kLanes = 16;

}  // namespace

std::int64_t aiter_weight_columns(int unit_bits) { return unit_bits < 8 ? 32 * 8 / unit_bits : 32; }

Layout& aiter_weight(Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string tile = std::string(cols) + ".tile";
  const std::string chunk = std::string(cols) + ".chunk";
  const std::string unit = std::string(cols) + ".unit";
  const std::string block = std::string(rows) + ".block";
  const std::string lane = std::string(rows) + ".lane";
  const int bits = layout.grain_bits();
  layout.split(rows, kLanes, block, lane);
  layout.split(cols, aiter_weight_columns(bits), tile, chunk).split(chunk, kChunkBits / bits, chunk, unit);
  rearrange(layout, std::array{lane, tile, chunk}, std::array{tile, chunk, lane});
  return layout;
}

Layout& aiter_weight_a16w4(Layout& layout, std::string_view rows, std::string_view cols, bool gate_up) {
  const std::string half = std::string(rows) + ".half";
  const std::string block = std::string(rows) + ".block";
  const std::string lane = std::string(rows) + ".lane";
  const std::string tile = std::string(cols) + ".tile";
  const std::string chunk = std::string(cols) + ".chunk";
  const std::string unit = std::string(cols) + ".unit";
  const int bits = layout.grain_bits();
  layout.split(rows, extent_of(layout, rows) / (gate_up ? 2 : 1), half, block).split(block, kLanes, block, lane);
  layout.split(cols, 4 * kChunkBits / bits, tile, chunk).split(chunk, kChunkBits / bits, chunk, unit);
  rearrange(layout, std::array{half, block, lane, tile, chunk}, std::array{block, half, tile, chunk, lane});
  return layout;
}

Layout& aiter_scale_a16w4(Layout& layout, std::string_view rows, std::string_view cols, bool gate_up) {
  const std::string pair = std::string(rows) + ".pair";
  const std::string block = std::string(rows) + ".block";
  const std::string lane = std::string(rows) + ".lane";
  const std::string tile = std::string(cols) + ".tile";
  const std::string half = std::string(cols) + ".half";
  const std::string quad = std::string(cols) + ".quad";
  pad_to_multiple(layout, cols, 8, PadContent::neutral);
  if (gate_up) {
    layout.split(rows, extent_of(layout, rows) / 2, pair, block).split(block, kLanes, block, lane);
  } else {
    layout.split(rows, 2 * kLanes, block, pair).split(pair, kLanes, pair, lane);
    rearrange(layout, std::array{block, pair}, std::array{pair, block});
  }
  layout.split(cols, 8, tile, half).split(half, 4, half, quad);
  rearrange(layout, std::array{pair, block, lane, tile, half, quad}, std::array{block, tile, quad, lane, half, pair});
  return layout;
}

Layout& aiter_e8m0(Layout& layout, std::string_view batch, std::string_view rows, std::string_view cols) {
  const std::string stack = std::string(rows) + ".stack";
  const std::string pair = std::string(rows) + ".pair";
  const std::string lane = std::string(rows) + ".lane";
  const std::string tile = std::string(cols) + ".tile";
  const std::string half = std::string(cols) + ".half";
  const std::string quad = std::string(cols) + ".quad";
  layout.merge({batch, rows}, stack);
  pad_to_multiple(layout, stack, 256, PadContent::unwritten);
  pad_to_multiple(layout, cols, 8, PadContent::unwritten);
  layout.split(stack, 2 * kLanes, stack, pair).split(pair, kLanes, pair, lane);
  layout.split(cols, 8, tile, half).split(half, 4, half, quad);
  rearrange(layout, std::array{pair, lane, tile, half, quad}, std::array{tile, quad, lane, half, pair});
  return layout;
}

Layout& tiles(Layout& layout, std::string_view rows, std::string_view cols, std::int64_t height, std::int64_t width) {
  const std::string row = std::string(rows) + ".in_tile";
  const std::string col = std::string(cols) + ".in_tile";
  const std::string outer_row = std::string(rows) + ".tile";
  const std::string outer_col = std::string(cols) + ".tile";
  layout.split(rows, height, outer_row, row).split(cols, width, outer_col, col);
  rearrange(layout, std::array{row, outer_col}, std::array{outer_col, row});
  return layout;
}

}  // namespace mx::layout::blocks
