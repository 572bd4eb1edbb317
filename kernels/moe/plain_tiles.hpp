#pragma once
// Tiles in plain code, as the Intel SDM defines them: what the engines run on where a processor has none, in tests.

#include <string.h>

#include "kernels/moe/flushed_steps.hpp"
#include "kernels/moe/tiles.hpp"

namespace mx::kernels::moe {
namespace {

class PlainTiles {
 public:
  /// As LDTILECFG does it: all tiles become zero.
  void shape(const TileShapes& shapes) {
    shapes_ = shapes;
    memset(bytes_, 0, sizeof bytes_);
  }
  template <int Tile>
  void clear() {
    memset(bytes_[Tile], 0, sizeof bytes_[Tile]);
  }

  /// Rows beyond the shape become zeros.
  template <int Tile>
  void load(const void* from, size_t stride) {
    memset(bytes_[Tile], 0, sizeof bytes_[Tile]);
    for (size_t row = 0; row < shapes_.rows[Tile]; ++row)
      memcpy(bytes_[Tile][row], static_cast<const uint8_t*>(from) + row * stride, shapes_.row_bytes[Tile]);
  }
  template <int Tile>
  void store(void* to, size_t stride) const {
    for (size_t row = 0; row < shapes_.rows[Tile]; ++row)
      memcpy(static_cast<uint8_t*>(to) + row * stride, bytes_[Tile][row], shapes_.row_bytes[Tile]);
  }

  /// TDPBF16PS.
  template <int Sums, int Rows, int Weights>
  void add_pairs() {
    for (size_t m = 0; m < shapes_.rows[Sums]; ++m) {
      for (size_t n = 0; n < shapes_.row_bytes[Sums] / sizeof(float); ++n) {
        float halves[2] = {};
        for (size_t pair = 0; pair < shapes_.row_bytes[Rows] / sizeof(uint32_t); ++pair) {
          for (size_t half = 0; half < 2; ++half)
            halves[half] = flushed_step(flushed(element(Rows, m, 2 * pair + half)), flushed(element(Weights, pair, 2 * n + half)), halves[half]);
        }
        const float sum = flushed_sum(flushed(dword<float>(Sums, m, n)), flushed_sum(halves[0], halves[1]));
        memcpy(&bytes_[Sums][m][n * sizeof sum], &sum, sizeof sum);
      }
    }
  }

  /// TDPBSSD.
  template <int Sums, int Rows, int Weights>
  void add_quads() {
    for (size_t m = 0; m < shapes_.rows[Sums]; ++m) {
      for (size_t n = 0; n < shapes_.row_bytes[Sums] / sizeof(uint32_t); ++n) {
        uint32_t sum = dword<uint32_t>(Sums, m, n);
        for (size_t i = 0; i < shapes_.row_bytes[Rows]; ++i) {
          const int product = static_cast<int8_t>(bytes_[Rows][m][i]) * static_cast<int8_t>(bytes_[Weights][i / 4][4 * n + i % 4]);
          sum += static_cast<uint32_t>(product);
        }
        memcpy(&bytes_[Sums][m][n * sizeof sum], &sum, sizeof sum);
      }
    }
  }

 private:
  template <class T>
  T dword(int tile, size_t row, size_t at) const {
    T value;
    memcpy(&value, &bytes_[tile][row][at * sizeof value], sizeof value);
    return value;
  }
  /// bf16 number `at` of a row.
  float element(int tile, size_t row, size_t at) const {
    const auto pair = dword<uint32_t>(tile, row, at / 2);
    const uint32_t bits = at % 2 == 0 ? pair << 16 : pair & 0xFFFF0000U;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }

  TileShapes shapes_;
  uint8_t bytes_[kTiles][kTileOfRows][kTileBytes] = {};
};

}  // namespace
}  // namespace mx::kernels::moe
