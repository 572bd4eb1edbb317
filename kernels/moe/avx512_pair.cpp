// bf16-pair by VDPBF16PS, which adds the product of a lane's odd half first: a lane of the elements k + 2 and k is two steps of the chain over the
// even ones, and of k + 3 and k + 1 two of the other. A stretch of a panel is decoded for all rows, and its halves exchanged between neighbours.

#include "kernels/moe/avx512_pair_weights.hpp"
#include "kernels/moe/avx512_totals.hpp"
#include "kernels/moe/x86_flushing.hpp"

namespace mx::kernels::moe {
namespace {

/// Decoded pairs of K [pair][32] into lanes of two even and of two odd elements, as RowForm::crossed has the rows.
void cross(uint32_t* pairs, size_t count) {
  constexpr __mmask32 kOddWords = 0xAAAAAAAAU;
  for (size_t pair = 0; pair < count; pair += 2) {
    MXACT_UNROLL for (size_t v = 0; v < kPanelColumns; v += 16) {
      uint32_t* const first = pairs + pair * kPanelColumns + v;
      uint32_t* const second = first + kPanelColumns;
      const __m512i earlier = _mm512_load_si512(first);
      const __m512i later = _mm512_load_si512(second);
      _mm512_store_si512(first, _mm512_mask_mov_epi16(later, kOddWords, _mm512_slli_epi32(earlier, 16)));
      _mm512_store_si512(second, _mm512_mask_mov_epi16(_mm512_srli_epi32(later, 16), kOddWords, earlier));
    }
  }
}

/// One tile of rows over a stretch of whole blocks; `totals` [row][32] goes on from stretch to stretch. To be run under flushing, for the additions.
using Tile = void(const uint32_t* weights, const uint32_t* a, size_t pairs, float* totals);
template <size_t Rows>
void tile(const uint32_t* weights, const uint32_t* a, size_t pairs, float* totals) {
  constexpr size_t kBlockPairs = kScaleBlock / 2;
  for (size_t first = 0; first < pairs; first += kBlockPairs, weights += kBlockPairs * kPanelColumns, a += kBlockPairs * Rows) {
    __m512 sums[Rows][2][2];  // [row][even, odd][half of the panel]
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t i = 0; i < 4; ++i) sums[m][i / 2][i % 2] = _mm512_setzero_ps(); }
#pragma GCC unroll 2
    for (size_t two = 0; two < kBlockPairs; two += 2) {
      MXACT_UNROLL for (size_t odd = 0; odd < 2; ++odd) {
        const __m512i low = _mm512_load_si512(weights + (two + odd) * kPanelColumns);
        const __m512i high = _mm512_load_si512(weights + (two + odd) * kPanelColumns + 16);
        MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
          const __m512bh x = pair_of(a + (two + odd) * Rows + m);
          sums[m][odd][0] = dot_pair(sums[m][odd][0], low, x);
          sums[m][odd][1] = dot_pair(sums[m][odd][1], high, x);
        }
      }
    }
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
        float* const at = totals + m * kPanelColumns + v * 16;
        _mm512_store_ps(at, _mm512_add_ps(_mm512_load_ps(at), _mm512_add_ps(sums[m][0][v], sums[m][1][v])));
      }
    }
  }
}
constexpr Tile* kTiles[kBlockRows] = {tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>};

void run(const TileArgs& args, const Kind& kind) {
  Bytes products[kPairedTables];
  if (kind.prepare != nullptr) kind.prepare(args, products);
  const Job job{args, products};
  alignas(64) uint32_t weights[kStretch / 2 * kPanelColumns];
  alignas(64) float totals[kMostRows * kPanelColumns];
  const size_t k = args.blocks * kScaleBlock;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    clear(totals, args.rows);
    for (size_t first = 0; first < k; first += kStretch) {
      const size_t end = k - first < kStretch ? k : first + kStretch;
      decode_stretch(job, kind, panel, first, end, weights);
      cross(weights, (end - first) / 2);
      const Flushing flushing;
      each_tile<kBlockRows>(args.rows, [&](size_t row, size_t height) {
        kTiles[height - 1](weights, args.a + k / 2 * row + first / 2 * height, (end - first) / 2, totals + row * kPanelColumns);
      });
    }
    put(args, panel, 0, args.rows, totals);
  }
}

}  // namespace

void bf16_pair_avx512_bf16(const TileArgs& args) { run(args, kMxfp4); }
void bf16_pair_mxfp8_avx512_bf16(const TileArgs& args) { run(args, kMxfp8); }
void bf16_pair_nvfp4_avx512_bf16(const TileArgs& args) { run(args, kNvfp4); }
void bf16_pair_fp8_avx512_bf16(const TileArgs& args) { run(args, kFp8); }

}  // namespace mx::kernels::moe
