#pragma once
// Tiles: eight registers of up to 16 rows of 64 bytes, of which one instruction multiplies 16 rows by 16 columns. The engines of pair_tiles.hpp and
// amx_int8.cpp are templates over what has the tiles (a processor, or plain code), so that all of them but the instructions runs anywhere. For files
// of one tier alone: nothing here has a linkage that another tier could pick up.

#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/tile.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kTiles = 8;
constexpr size_t kTileBytes = 64;
/// From row to row of a panel.
constexpr size_t kPanelStride = kPanelColumns * sizeof(float);

/// What LDTILECFG reads: rows and bytes in a row of each tile.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  /// Tiles of no rows have no bytes either.
  void set(size_t tile, size_t height, size_t bytes) {
    rows[tile] = static_cast<uint8_t>(height);
    row_bytes[tile] = static_cast<uint16_t>(height == 0 ? 0 : bytes);
  }
};

}  // namespace
}  // namespace mx::kernels::moe
