#pragma once
// An area of a tile cut into lanes: neighbouring bytes of the tile, as many for all of them, that are neighbours in memory.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/relayout/tile.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace mx::kernels::relayout {

/// An area in lanes of `width` bytes.
struct Lanes {
  std::vector<MxTileLane> lanes;
  std::int64_t width = 0;
  std::int64_t whole = 0;  ///< 1: all of each lane is in memory
};

/// The widest lanes of an area whose bytes, as far as they are there, lie in memory as in the lane; a width of 0 when there are no such.
Lanes lanes_of(const std::vector<Piece>& pieces, std::int32_t bytes);

/// Lanes of 32 bytes and more, those of the registers of 64 bytes that begin at `places` of the area one behind the other; shorter ones as they are.
Lanes in_order(const Lanes& lanes, std::span<const std::uint32_t> places);

/// Whether each lane is a line of memory where the tile begins on one.
bool are_lines(const Lanes& lanes);

}  // namespace mx::kernels::relayout
