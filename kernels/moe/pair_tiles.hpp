#pragma once
// bf16-pair by tiles, a product over 32 of K. The first tiles of rows meet each stretch of weights while it is decoded, piece by piece: instructions
// of vectors run beside those of tiles. As tiles.hpp: nothing here has a linkage that another tier could pick up.

#include "kernels/moe/tiles.hpp"

namespace mx::kernels::moe {
namespace {

/// What stands in which tile: sums of two tiles of rows by both halves of a panel, the rows, the weights.
constexpr int kSums = 0;     // and 1; 2 and 3 of the second tile of rows
constexpr int kRows = 4;     // and 5
constexpr int kWeights = 6;  // and 7
constexpr size_t kBlockPairs = kScaleBlock / 2;

/// Up to two tiles of rows from `row` on, the second one 0 where there is none.
struct TwoTiles {
  size_t row, first, second;

  TileShapes shapes() const {
    TileShapes shapes;
    const size_t heights[kTiles] = {first, first, second, second, first, second, kBlockPairs, kBlockPairs};
    for (size_t t = 0; t < kTiles; ++t) shapes.set(t, heights[t], kTileBytes);
    return shapes;
  }
};

/// A stretch of `blocks` blocks of K by two tiles of rows: `weights` [pair of K][32], each tile's rows [block][row][16 pairs], `totals` [row][32],
/// which go on from stretch to stretch. `beside(block)` is called behind the products of each block, before they are done.
template <bool Second, class Tiles, class Beside>
void multiply_stretch(Tiles& tiles, const TwoTiles& two, size_t blocks, const uint32_t* weights, const uint32_t* first, const uint32_t* second,
                      float* totals, Beside beside) {
  float* const below = totals + two.first * kPanelColumns;
  tiles.template load<kSums>(totals, kPanelStride);
  tiles.template load<kSums + 1>(totals + 16, kPanelStride);
  if constexpr (Second) {
    tiles.template load<kSums + 2>(below, kPanelStride);
    tiles.template load<kSums + 3>(below + 16, kPanelStride);
  }
  for (size_t block = 0; block < blocks; ++block) {
    const uint32_t* const of_block = weights + block * kBlockPairs * kPanelColumns;
    tiles.template load<kRows>(first + block * two.first * kBlockPairs, kTileBytes);
    tiles.template load<kWeights>(of_block, kPanelStride);
    tiles.template add_pairs<kSums, kRows, kWeights>();
    tiles.template load<kWeights + 1>(of_block + 16, kPanelStride);
    tiles.template add_pairs<kSums + 1, kRows, kWeights + 1>();
    if constexpr (Second) {
      tiles.template load<kRows + 1>(second + block * two.second * kBlockPairs, kTileBytes);
      tiles.template add_pairs<kSums + 2, kRows + 1, kWeights>();
      tiles.template add_pairs<kSums + 3, kRows + 1, kWeights + 1>();
    }
    beside(block);
  }
  tiles.template store<kSums>(totals, kPanelStride);
  tiles.template store<kSums + 1>(totals + 16, kPanelStride);
  if constexpr (Second) {
    tiles.template store<kSums + 2>(below, kPanelStride);
    tiles.template store<kSums + 3>(below + 16, kPanelStride);
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

/// K decoded at once at most: with the rows of two tiles 36 KiB, which a core's L1 cache holds. Tiles that come from further away cost a third more.
constexpr size_t kTileStretch = 192;
/// K decoded at a time: with scales for more than a block of K two blocks, which share what is made of the scales.
constexpr size_t piece_of(size_t scale_block) { return scale_block <= kScaleBlock ? kScaleBlock : 2 * kScaleBlock; }

/// All panels of a call. `decode(panel, first, end, out)` has K from `first` to `end` of a panel as pairs of bf16, `put(panel, totals)` what becomes
/// of the sums.
template <class Tiles, class Decode, class Put>
void run_pairs_by_tiles(const TileArgs& args, Decode decode, Put put) {
  alignas(64) uint32_t weights[kTileStretch / 2 * kPanelColumns];
  alignas(64) float totals[kMostRows * kPanelColumns];
  const size_t k = args.blocks * kScaleBlock;
  const size_t piece = piece_of(args.scale_block);
  TwoTiles shaped{0, 0, 0};
  Tiles tiles;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    for (size_t i = 0; i < args.rows * kPanelColumns; ++i) totals[i] = 0;
    for (size_t first = 0; first < k; first += kTileStretch) {
      const size_t end = k - first < kTileStretch ? k : first + kTileStretch;
      const auto decode_from = [&](size_t at) { decode(panel, at, end - at < piece ? end : at + piece, weights + (at - first) / 2 * kPanelColumns); };
      decode_from(first);
      each_two_tiles(args.rows, [&](const TwoTiles& two) {
        if (two.first != shaped.first || two.second != shaped.second) tiles.shape(two.shapes());
        shaped = two;
        const uint32_t* const of_first = args.a + two.row * k / 2 + first / 2 * two.first;
        const uint32_t* const of_second = args.a + (two.row + two.first) * k / 2 + first / 2 * two.second;
        float* const of_rows = totals + two.row * kPanelColumns;
        const size_t blocks = (end - first) / kScaleBlock;
        const auto beside = [&](size_t block) {
          const size_t next = first + (block + 1) * kScaleBlock;
          if (two.row == 0 && (next - first) % piece == 0 && next < end) decode_from(next);
        };
        two.second == 0 ? multiply_stretch<false>(tiles, two, blocks, weights, of_first, of_second, of_rows, beside)
                        : multiply_stretch<true>(tiles, two, blocks, weights, of_first, of_second, of_rows, beside);
      });
    }
    put(panel, totals);
  }
}

}  // namespace
}  // namespace mx::kernels::moe
