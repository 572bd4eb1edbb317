#include "kernels/moe/operand.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/moe/tile.hpp"
#include "model/error.hpp"

namespace mx::kernels::moe {
namespace {

/// A block of rows fills half of a core's second-level cache of 1 MiB; the panels stream past it.
constexpr std::size_t kRowBlockBytes = 512 * 1024;

std::uint8_t exponent_of(std::uint32_t bf16) {
  const std::uint32_t field = bf16 >> 7 & 0xFFU;
  return field == 0 ? 255 : static_cast<std::uint8_t>(field);
}

std::uint8_t least_exponent(const std::uint16_t* row, std::size_t k) {
  std::uint8_t least = 255;
  for (std::size_t i = 0; i < k; ++i) least = std::min(least, exponent_of(row[i]));
  return least;
}

/// Pairs of K of one row, `height` dwords apart.
void place_pairs(const std::uint16_t* row, std::size_t k, std::size_t height, std::uint32_t* to) {
  for (std::size_t i = 0; i < k / 2; ++i) {
    std::uint32_t pair = 0;
    std::memcpy(&pair, row + 2 * i, sizeof pair);
    to[i * height] = pair;
  }
}

/// Quads of an octet's k 0, 4, 1, 5 and 2, 6, 3, 7: the order in which a lane's bytes hold the weights' low and high nibbles.
void place_quads(const std::int8_t* row, std::size_t k, std::size_t height, std::uint32_t* to) {
  for (std::size_t octet = 0; octet < k / 8; ++octet) {
    const std::int8_t* eight = row + 8 * octet;
    const std::int8_t quads[2][4] = {{eight[0], eight[4], eight[1], eight[5]}, {eight[2], eight[6], eight[3], eight[7]}};
    for (std::size_t quad = 0; quad < 2; ++quad) std::memcpy(to + (2 * octet + quad) * height, quads[quad], sizeof quads[quad]);
  }
}

/// Calls with (row of the block of rows, first row of its tile, height of the tile).
template <class Visit>
void each_row(const Operand& operand, const RowBlock& block, Visit visit) {
  std::size_t first = 0;
  for (std::size_t tile = 0; tile < tile_count(block.rows, operand.tallest); ++tile) {
    const std::size_t height = tile_height(block.rows, operand.tallest, tile);
    for (std::size_t row = first; row < first + height; ++row) visit(row, first, height);
    first += height;
  }
}

}  // namespace

Operand empty_operand(bool int8, std::size_t tallest, std::size_t rows, std::size_t k) {
  if (k < 1 || k % kScaleBlock != 0) {
    throw Error(ErrorCode::usage, "K " + std::to_string(k) + " is not a multiple of " + std::to_string(kScaleBlock), "activations");
  }
  Operand operand{
      .rows = rows, .k = k, .tallest = tallest, .dwords_per_row = int8 ? k / 4 : k / 2, .data = {}, .starts = {}, .exponents = {}, .row_blocks = {}};
  operand.data.resize(rows * operand.dwords_per_row);
  if (int8) {
    operand.starts.resize(rows * k / kScaleBlock);
    operand.exponents.resize(rows * k / kScaleBlock);
  }
  const std::size_t most = std::max<std::size_t>(1, kRowBlockBytes / (operand.dwords_per_row * 4) / tallest) * tallest;
  for (std::size_t first = 0; first < rows; first += most) {
    operand.row_blocks.push_back({first, std::min(most, rows - first), 255, {255, 0}});
  }
  return operand;
}

void fill_bf16(Operand& operand, std::size_t index, std::span<const std::uint16_t* const> rows) {
  RowBlock& block = operand.row_blocks[index];
  std::uint32_t* const data = operand.data.data() + block.first * operand.dwords_per_row;
  each_row(operand, block, [&](std::size_t row, std::size_t first, std::size_t height) {
    const std::uint16_t* from = rows[row];
    block.least_exponent = std::min(block.least_exponent, least_exponent(from, operand.k));
    place_pairs(from, operand.k, height, data + first * operand.dwords_per_row + (row - first));
  });
}

void fill_int8(Operand& operand, std::size_t index, std::span<const std::int8_t* const> rows, std::span<const std::uint8_t* const> scales) {
  RowBlock& block = operand.row_blocks[index];
  const std::size_t scale_blocks = operand.k / kScaleBlock;
  std::uint32_t* const data = operand.data.data() + block.first * operand.dwords_per_row;
  std::int32_t* const starts = operand.starts.data() + block.first * scale_blocks;
  std::int32_t* const exponents = operand.exponents.data() + block.first * scale_blocks;
  each_row(operand, block, [&](std::size_t row, std::size_t first, std::size_t height) {
    const std::int8_t* from = rows[row];
    place_quads(from, operand.k, height, data + first * operand.dwords_per_row + (row - first));
    for (std::size_t b = 0; b < scale_blocks; ++b) {
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < kScaleBlock; ++i) sum += from[b * kScaleBlock + i];
      const std::uint8_t scale = scales[row][b];
      const std::size_t place = first * scale_blocks + b * height + (row - first);
      starts[place] = -12 * sum;
      exponents[place] = (scale - 134) * (1 << 23);
      block.scales = {std::min(block.scales.least, scale), std::max(block.scales.most, scale)};
    }
  });
}

bool needs_care(Contract contract, const RowBlock& rows, const ScaleRange& columns) {
  if (contract == Contract::bf16_chain) return columns.least < 2 || columns.most > 252 || rows.least_exponent + columns.least < 136;
  if (contract == Contract::int8_block) {
    const bool numbers = rows.scales.most < 255 && columns.most < 255;
    return !numbers || rows.scales.least + columns.least < 135 || rows.scales.most + columns.most > 381;
  }
  return false;
}

}  // namespace mx::kernels::moe
