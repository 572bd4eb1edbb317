#pragma once
// What a building block makes of a matrix, said a second time: the formulas of its documents as plain loops, one file per library, without view
// programs. The law L2 holds every row of the blocks' table against them; the backends' formulas (backend_formula.hpp) compose them.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/families/building_block.hpp"

namespace mx::props {

/// Memory as a list: for every grain, in the order of addresses, the number of the grain of the matrix that lies there, or one of Layout's kPad
/// codes. Grains of the matrix count row-major through [batch, rows, cols] and, where a grain is less than a unit, through the unit's bits from the
/// lowest on.
struct Memory {
  int grain_bits;
  std::vector<std::int64_t> sources;
  friend bool operator==(const Memory&, const Memory&) = default;
};

/// A place of a matrix: grain `part` of the unit (row, col).
struct Spot {
  std::int64_t row;
  std::int64_t col;
  std::int64_t part = 0;
};

std::int64_t round_up(std::int64_t size, std::int64_t multiple);

/// Memory of `grains` grains for each matrix of the batch, matrix after matrix: address p holds the spot place(p), and `outside` where the matrix has
/// no such row or column.
template <class Place>
Memory gathered(const families::BlockRequest& request, int grain_bits, std::int64_t grains, std::int64_t outside, Place place) {
  Memory memory{grain_bits, std::vector<std::int64_t>(static_cast<std::size_t>(request.batch * grains), outside)};
  const std::int64_t parts = request.unit_bits / grain_bits;
  for (std::int64_t b = 0; b < request.batch; ++b) {
    for (std::int64_t p = 0; p < grains; ++p) {
      const Spot spot = place(p);
      if (spot.row >= request.rows || spot.col >= request.cols) continue;
      memory.sources[static_cast<std::size_t>(b * grains + p)] = ((b * request.rows + spot.row) * request.cols + spot.col) * parts + spot.part;
    }
  }
  return memory;
}

/// One block's restatement.
struct BlockFormula {
  std::string_view block;
  /// Draws unit, sizes and parameters that the block takes, around the edges of its tiles; batch and version stand already.
  void (*draw)(families::BlockRequest& request);
  /// Whether the block takes the request, by its document.
  bool (*takes)(const families::BlockRequest& request);
  Memory (*memory)(const families::BlockRequest& request);
};

/// The formula of a block. Throws Error(usage) where there is none.
const BlockFormula& block_formula(std::string_view block);

/// A size that is a multiple of `step`: a few tiles, or up to two steps less or more.
std::int64_t pick_near(std::int64_t step, std::int64_t tile);
/// One of a few numbers.
std::int64_t pick_of(std::initializer_list<std::int64_t> numbers);

/// The bit of 4 bytes (8 * byte + bit) that each bit of a 32-bit word of scattered 4-bit elements comes from. Source: spec layouts 1.3.
std::int64_t scattered_bit(std::int64_t word_bit);

/// Formulas that several libraries share.
Memory tiled_scales(const families::BlockRequest& request, std::int64_t group_multiple);  ///< the 128x4 tile; spec layouts 1.2 and 5.4
Memory cdna4_scales(const families::BlockRequest& request, std::int64_t rows, std::int64_t cols, std::int64_t outside);  ///< spec layouts 5.6
std::int64_t block_of_32(std::int64_t p);  ///< Marlin's single order; spec layouts 6.2
std::int64_t block_of_64(std::int64_t p);

}  // namespace mx::props
