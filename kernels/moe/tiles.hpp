#pragma once
// bf16-pair by tiles: registers of up to 16 rows of 64 bytes, of which one instruction multiplies 16 rows by 16 columns over 32 of K. The engine is a
// template over what has the tiles (a processor, or plain code) and over how a stretch of weights is decoded, so that all of it but the instructions
// runs anywhere. For files of one tier alone: nothing here has a linkage that another tier could pick up.

#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/tile.hpp"
#include "kernels/moe/unroll.hpp"

namespace mx::kernels::moe {
namespace {

/// What stands in which tile: sums of two tiles of rows by both halves of a panel, the rows, the weights.
constexpr int kSums = 0;     // and 1; 2 and 3 of the second tile of rows
constexpr int kRows = 4;     // and 5
constexpr int kWeights = 6;  // and 7
constexpr size_t kTileBytes = 64;
constexpr size_t kBlockPairs = kScaleBlock / 2;

/// What LDTILECFG reads: rows and bytes in a row of each tile.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  /// Tiles of rows of two heights, the second one 0 where there is none.
  static TileShapes of(size_t first, size_t second) {
    TileShapes shapes;
    const size_t heights[] = {first, first, second, second, first, second, kBlockPairs, kBlockPairs};
    for (size_t t = 0; t < 8; ++t) {
      shapes.rows[t] = static_cast<uint8_t>(heights[t]);
      shapes.row_bytes[t] = static_cast<uint16_t>(heights[t] == 0 ? 0 : kTileBytes);
    }
    return shapes;
  }
};

/// Up to two tiles of rows from `row` on.
struct TwoTiles {
  size_t row, first, second;
};

/// A stretch of `blocks` blocks of K by two tiles of rows: `weights` [pair of K][32], each tile's rows [block][row][16 pairs], `totals` [row][32],
/// which go on from stretch to stretch.
template <bool Second, class Tiles>
void multiply_stretch(Tiles& tiles, const TwoTiles& two, size_t blocks, const uint32_t* weights, const uint32_t* first, const uint32_t* second,
                      float* totals) {
  constexpr size_t kStride = kPanelColumns * sizeof(float);
  float* const below = totals + two.first * kPanelColumns;
  tiles.template load<kSums>(totals, kStride);
  tiles.template load<kSums + 1>(totals + 16, kStride);
  if constexpr (Second) {
    tiles.template load<kSums + 2>(below, kStride);
    tiles.template load<kSums + 3>(below + 16, kStride);
  }
  for (size_t block = 0; block < blocks; ++block) {
    const uint32_t* const of_block = weights + block * kBlockPairs * kPanelColumns;
    tiles.template load<kRows>(first + block * two.first * kBlockPairs, kTileBytes);
    tiles.template load<kWeights>(of_block, kStride);
    tiles.template add_pairs<kSums, kRows, kWeights>();
    tiles.template load<kWeights + 1>(of_block + 16, kStride);
    tiles.template add_pairs<kSums + 1, kRows, kWeights + 1>();
    if constexpr (Second) {
      tiles.template load<kRows + 1>(second + block * two.second * kBlockPairs, kTileBytes);
      tiles.template add_pairs<kSums + 2, kRows + 1, kWeights>();
      tiles.template add_pairs<kSums + 3, kRows + 1, kWeights + 1>();
    }
  }
  tiles.template store<kSums>(totals, kStride);
  tiles.template store<kSums + 1>(totals + 16, kStride);
  if constexpr (Second) {
    tiles.template store<kSums + 2>(below, kStride);
    tiles.template store<kSums + 3>(below + 16, kStride);
  }
}

/// Calls with each two tiles of rows.
template <class Visit>
void each_two_tiles(size_t rows, Visit visit) {
  const size_t count = tile_count(rows, kTileOfRows);
  size_t row = 0;
  for (size_t t = 0; t < count; t += 2) {
    const TwoTiles two{row, tile_height(rows, kTileOfRows, t), t + 1 < count ? tile_height(rows, kTileOfRows, t + 1) : 0};
    visit(two);
    row += two.first + two.second;
  }
}

/// All panels of a call. `decode(panel, first, end, out)` has K from `first` to `end` of a panel as pairs of bf16, `put(panel, totals)` what becomes
/// of the sums.
template <class Tiles, class Decode, class Put>
void run_pairs_by_tiles(const TileArgs& args, Decode decode, Put put) {
  constexpr size_t kTileStretch = 256;  // K decoded at once: 16 KiB
  alignas(64) uint32_t weights[kTileStretch / 2 * kPanelColumns];
  alignas(64) float totals[kMostRows * kPanelColumns];
  const size_t k = args.blocks * kScaleBlock;
  Tiles tiles;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    for (size_t i = 0; i < args.rows * kPanelColumns; ++i) totals[i] = 0;
    for (size_t first = 0; first < k; first += kTileStretch) {
      const size_t end = k - first < kTileStretch ? k : first + kTileStretch;
      decode(panel, first, end, weights);
      each_two_tiles(args.rows, [&](const TwoTiles& two) {
        tiles.shape(two.first, two.second);
        const uint32_t* const of_first = args.a + two.row * k / 2 + first / 2 * two.first;
        const uint32_t* const of_second = args.a + (two.row + two.first) * k / 2 + first / 2 * two.second;
        float* const of_rows = totals + two.row * kPanelColumns;
        const size_t blocks = (end - first) / kScaleBlock;
        two.second == 0 ? multiply_stretch<false>(tiles, two, blocks, weights, of_first, of_second, of_rows)
                        : multiply_stretch<true>(tiles, two, blocks, weights, of_first, of_second, of_rows);
      });
    }
    put(panel, totals);
  }
}

}  // namespace
}  // namespace mx::kernels::moe
