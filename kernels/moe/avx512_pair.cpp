// bf16-pair by VDPBF16PS, which adds the product of a lane's odd half first: a lane of the elements k + 2 and k is two steps of the chain over the
// even ones, and of k + 3 and k + 1 two of the other. Weights are decoded so.

#include "kernels/moe/avx512_pair_weights.hpp"
#include "kernels/moe/avx512_totals.hpp"
#include "kernels/moe/x86_flushing.hpp"

namespace mx::kernels::moe {
namespace {

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

/// A few rows by a panel, weights decoded in registers. Nothing is flushed: where no sum can be subnormal (TileArgs::careful). Of scales for 32 of K
/// or fewer.
using Few = void(const Job& job, size_t panel);
template <class Decoder, size_t Rows>
void few(const Job& job, size_t panel) {
  const TileArgs& args = job.args;
  Columns<2> columns{args.codes + panel * args.code_stride, args.scales + panel * args.scale_stride, args.code_stride, args.scale_stride};
  const uint32_t* a = args.a;
  __m512 totals[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) totals[m][0] = totals[m][1] = _mm512_setzero_ps();
  for (size_t block = 0; block < args.blocks; ++block) {
    __m512 sums[Rows][2][2];  // [row][even, odd][half of the panel]
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t i = 0; i < 4; ++i) sums[m][i / 2][i % 2] = _mm512_setzero_ps(); }
    for (size_t k = 0; k < kScaleBlock; k += args.scale_block) {
      const Decoder decoder = Decoder::of(job, columns.scales);
      columns.scales += kPanelColumns * Decoder::kBytes;
#pragma GCC unroll 1
      for (size_t at = 0; at < args.scale_block; at += 2 * Decoder::kPairs, a += Decoder::kPairs * Rows) {
        __m512i pairs[2][Decoder::kPairs];
        MXACT_UNROLL for (size_t v = 0; v < 2; ++v) decoder.pairs(v, columns.codes_of(v), pairs[v]);
        columns.next_dwords();
        MXACT_UNROLL for (size_t i = 0; i < Decoder::kPairs; i += 2) {
          MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
            MXACT_UNROLL for (size_t odd = 0; odd < 2; ++odd) {
              const __m512bh x = pair_of(a + (i + odd) * Rows + m);
              MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][odd][v] = dot_pair(sums[m][odd][v], pairs[v][i + odd], x);
            }
          }
        }
      }
    }
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      MXACT_UNROLL for (size_t v = 0; v < 2; ++v) totals[m][v] = _mm512_add_ps(totals[m][v], _mm512_add_ps(sums[m][0][v], sums[m][1][v]));
    }
  }
  Outputs(args, panel, 0).store(totals);
}

/// By the number of rows: one tile.
struct FewRows {
  Few* of[kBlockRows];
};
template <class Decoder>
constexpr FewRows kFewRows{few<Decoder, 1>, few<Decoder, 2>, few<Decoder, 3>, few<Decoder, 4>, few<Decoder, 5>, few<Decoder, 6>};

/// `rows`: where all panels' scales are those of its decoder; null: where none are.
void run(const TileArgs& args, const Kind& kind, const FewRows* rows) {
  Bytes products[kPairedTables];
  if (kind.prepare != nullptr) kind.prepare(args, products);
  const Job job{args, products};
  if (rows != nullptr && args.rows <= kBlockRows && !args.careful) {
    for (size_t panel = 0; panel < args.panels; ++panel) rows->of[args.rows - 1](job, panel);
    return;
  }
  alignas(64) uint32_t weights[kStretch / 2 * kPanelColumns];
  alignas(64) float totals[kMostRows * kPanelColumns];
  const size_t k = args.blocks * kScaleBlock;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    clear(totals, args.rows);
    for (size_t first = 0; first < k; first += kStretch) {
      const size_t end = k - first < kStretch ? k : first + kStretch;
      decode_stretch(job, kind, panel, first, end, weights);
      const Flushing flushing;
      each_tile<kBlockRows>(args.rows, [&](size_t row, size_t height) {
        kTiles[height - 1](weights, args.a + k / 2 * row + first / 2 * height, (end - first) / 2, totals + row * kPanelColumns);
      });
    }
    put(args, panel, 0, args.rows, totals);
  }
}

}  // namespace

void bf16_pair_avx512_bf16(const TileArgs& args) { run(args, kMxfp4<Crossed>, &kFewRows<Crossed<TakenOff>>); }
void bf16_pair_mxfp8_avx512_bf16(const TileArgs& args) { run(args, kMxfp8<Crossed>, &kFewRows<Crossed<Folded<E4m3, E8m0Fold>>>); }
void bf16_pair_nvfp4_avx512_bf16(const TileArgs& args) {
  run(args, kNvfp4<Crossed>, takes_all(args, kNvfp4<Crossed>.ways[0]) ? &kFewRows<Crossed<Paired>> : nullptr);
}
void bf16_pair_fp8_avx512_bf16(const TileArgs& args) { run(args, kFp8<Crossed>, nullptr); }

}  // namespace mx::kernels::moe
