#pragma once
// The tiles of a strip, one by one. Each file of an instruction set has its own: nothing here has a linkage that another one could pick up.

#include <stdint.h>

#include "kernels/relayout/tile_code.hpp"

namespace {

/// Calls move(source, target) with where each tile lies, in order.
template <class Move>
inline void for_each_tile(const MxTileStrip& strip, Move move) {
  const MxTilePlace* const end = strip.places + strip.place_count;
  const uint8_t* source = strip.source;
  uint8_t* target = strip.target;
  for (int64_t n = strip.count; n > 0; --n, source += strip.source_step, target += strip.target_step) {
    for (const MxTilePlace* place = strip.places; place != end; ++place) move(source + place->source, target + place->target);
  }
}

}  // namespace
