#pragma once
// Where the scales of a matrix of blocks lie.

#include <cstddef>

#include "kernels/codec/codec.hpp"

namespace mx::kernels {

/// A matrix of scales in its layout. Sources: model/families/trtllm/building_blocks.cpp, rows sf_128x4 and sf_8x4.
class ScaleTiles {
 public:
  ScaleTiles(std::size_t rows, std::size_t cols, ScaleLayout layout);

  /// Scales with the padding.
  std::size_t size() const { return size_; }
  /// Scale i is that of block i.
  bool is_row_major() const { return tile_rows_ * tile_cols_ == 1; }
  bool is_padded() const { return size_ != rows_ * cols_; }
  /// Index of the scale of a row and column.
  std::size_t at(std::size_t row, std::size_t col) const { return row_start(row) + col_offset(col); }
  /// Its two parts.
  std::size_t row_start(std::size_t row) const;
  std::size_t col_offset(std::size_t col) const { return (col >> tile_shift_) * tile_rows_ * tile_cols_ + (col & (tile_cols_ - 1)); }

 private:
  std::size_t rows_;
  std::size_t cols_;
  std::size_t tile_rows_;
  std::size_t tile_cols_;  ///< a power of two
  unsigned tile_shift_;    ///< its exponent
  std::size_t tiles_across_;
  std::size_t interleave_;  ///< rows of a tile that are this far apart stand side by side
  std::size_t size_;
};

}  // namespace mx::kernels
