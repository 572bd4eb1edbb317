#include "model/families/cpu/blocks.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/families/building_block.hpp"
#include "model/fault.hpp"

namespace mx::families::blocks {
namespace {

constexpr std::int64_t kBlock = 32;  // block_size_n() of csrc/cpu/sgl-kernels/common.h: two tiles of 16 rows

/// Of the lines (block, column, part of 2) of a matrix whose last block has only its first part: those that exist, in order, then the others.
std::vector<std::int64_t> whole_lines_first(std::int64_t blocks, std::int64_t columns) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(blocks * columns * 2));
  std::iota(order.begin(), order.end(), 0);
  const auto last = order.begin() + static_cast<std::ptrdiff_t>((blocks - 1) * columns * 2);
  std::stable_partition(last, order.end(), [](std::int64_t line) { return line % 2 == 0; });
  return order;
}

}  // namespace

layout::Layout& cpu_nibbles(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  const bool ragged = extent_of(layout, rows) % kBlock != 0;
  pad_to_multiple(layout, rows, kBlock, layout::PadContent::unwritten);
  split_off(layout, rows, {{"high", 2}, {"part", 2}, {"row", kBlock / 4}});
  split_off(layout, cols, {{"nibble", 2}});
  order(layout, {rows, cols, "part", "row", "nibble", "high"});
  if (!ragged) return layout;
  const std::int64_t blocks = extent_of(layout, rows);
  const std::int64_t bytes = extent_of(layout, cols);
  layout.merge({rows, cols, "part"}, "lines").table("lines", whole_lines_first(blocks, bytes));
  return layout.slice("lines", 0, (2 * blocks - 1) * bytes);
}

layout::Layout& cpu_vnni2(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  // Half blocks of 16 rows, so that a last one alone is a line like the others.
  split_off(layout, rows, {{"row", kBlock / 2}});
  split_off(layout, cols, {{"element", 2}});
  order(layout, {rows, cols, "row", "element"});
  const std::int64_t halves = extent_of(layout, rows);
  if (halves % 2 == 0) {
    split_off(layout, rows, {{"half", 2}});
    return order(layout, {rows, cols, "half", "row", "element"});
  }
  const std::int64_t pairs = extent_of(layout, cols);
  std::vector<std::int64_t> lines;
  for (std::int64_t first = 0; first < halves; first += 2) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      for (std::int64_t half = first; half < std::min(first + 2, halves); ++half) lines.push_back(half * pairs + pair);
    }
  }
  return layout.merge({rows, cols}, "lines").table("lines", std::move(lines));
}

layout::Layout& cpu_scale(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  split_off(layout, rows, {{"row", kBlock}});
  if (fault::planted(fault::Fault::cpu_scales_not_transposed)) return order(layout, {rows, "row", cols});
  return order(layout, {rows, cols, "row"});
}

}  // namespace mx::families::blocks
