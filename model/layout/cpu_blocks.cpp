#include "model/layout/cpu_blocks.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "model/layout/stage.hpp"

namespace mx::layout::blocks {
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

Layout& cpu_nibbles(Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string block = std::string(rows) + ".block";
  const std::string high = std::string(rows) + ".high";
  const std::string part = std::string(rows) + ".part";
  const std::string row = std::string(rows) + ".row";
  const std::string byte = std::string(cols) + ".byte";
  const std::string nibble = std::string(cols) + ".nibble";
  const bool ragged = extent_of(layout, rows) % kBlock != 0;
  pad_to_multiple(layout, rows, kBlock, PadContent::unwritten);
  layout.split(rows, kBlock, block, high).split(high, kBlock / 2, high, part).split(part, kBlock / 4, part, row).split(cols, 2, byte, nibble);
  rearrange(layout, std::array{high, part, row, byte, nibble}, std::array{byte, part, row, nibble, high});
  if (!ragged) return layout;
  const std::int64_t blocks = extent_of(layout, block);
  const std::int64_t bytes = extent_of(layout, byte);
  const std::string lines = std::string(rows) + ".lines";
  layout.merge({block, byte, part}, lines).table(lines, whole_lines_first(blocks, bytes));
  return layout.slice(lines, 0, (2 * blocks - 1) * bytes);
}

Layout& cpu_vnni2(Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string block = std::string(rows) + ".block";
  const std::string row = std::string(rows) + ".row";
  const std::string pair = std::string(cols) + ".pair";
  const std::string element = std::string(cols) + ".element";
  const std::int64_t count = extent_of(layout, rows);
  const std::int64_t pairs = extent_of(layout, cols) / 2;
  // Half blocks of 16 rows, so that a last one alone is a line like the others.
  layout.split(rows, kBlock / 2, block, row).split(cols, 2, pair, element);
  rearrange(layout, std::array{row, pair}, std::array{pair, row});
  const std::string lines = std::string(rows) + ".lines";
  if (count % kBlock == 0) {
    const std::string half = std::string(rows) + ".half";
    layout.split(block, 2, block, half);
    rearrange(layout, std::array{half, pair}, std::array{pair, half});
    return layout;
  }
  std::vector<std::int64_t> order;
  const std::int64_t halves = count / (kBlock / 2);
  for (std::int64_t first = 0; first < halves; first += 2) {
    for (std::int64_t p = 0; p < pairs; ++p) {
      for (std::int64_t half = first; half < std::min(first + 2, halves); ++half) order.push_back(half * pairs + p);
    }
  }
  return layout.merge({block, pair}, lines).table(lines, std::move(order));
}

Layout& cpu_scale(Layout& layout, std::string_view rows, std::string_view cols) {
  const std::string block = std::string(rows) + ".block";
  const std::string row = std::string(rows) + ".row";
  const std::string group(cols);
  layout.split(rows, kBlock, block, row);
  rearrange(layout, std::array{row, group}, std::array{group, row});
  return layout;
}

}  // namespace mx::layout::blocks
