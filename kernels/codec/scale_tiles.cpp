#include "kernels/codec/scale_tiles.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace mx::kernels {
namespace {

/// Rows and columns of a tile. Rows that are `interleave` apart lie `tile_cols` bytes apart; the others follow.
struct TileRow {
  ScaleLayout layout;
  std::size_t tile_rows;
  std::size_t tile_cols;
  std::size_t interleave;
};

constexpr std::array kTiles{
    TileRow{ScaleLayout::sf128x4, 128, 4, 32},
    TileRow{ScaleLayout::sf8x4, 8, 4, 8},
};

std::size_t tiles(std::size_t extent, std::size_t tile) { return (extent + tile - 1) / tile; }

}  // namespace

ScaleTiles::ScaleTiles(std::size_t rows, std::size_t cols, ScaleLayout layout)
    : rows_(rows), cols_(cols), tile_rows_(1), tile_cols_(1), tile_shift_(0), tiles_across_(cols), interleave_(1), size_(rows * cols) {
  const auto row = std::ranges::find(kTiles, layout, &TileRow::layout);
  if (row == kTiles.end()) return;
  tile_rows_ = row->tile_rows;
  tile_cols_ = row->tile_cols;
  tile_shift_ = static_cast<unsigned>(std::countr_zero(tile_cols_));
  tiles_across_ = tiles(cols, tile_cols_);
  interleave_ = row->interleave;
  size_ = tiles(rows, tile_rows_) * tiles_across_ * tile_rows_ * tile_cols_;
}

std::size_t ScaleTiles::row_start(std::size_t row) const {
  const std::size_t in_tile = row % tile_rows_;
  const std::size_t side_by_side = tile_rows_ / interleave_;
  const std::size_t place = in_tile % interleave_ * side_by_side + in_tile / interleave_;
  return (row / tile_rows_ * tiles_across_ * tile_rows_ + place) * tile_cols_;
}

}  // namespace mx::kernels
