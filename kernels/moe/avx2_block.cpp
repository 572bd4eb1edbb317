// bf16-block by AVX2, of every kind of weights: sums of chains under flushing, their scales without.

#include "kernels/moe/avx2_decode.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kStretch = 128;  // K decoded at once, whole chains: 16 KiB for both halves
constexpr size_t kShortest = 16;  // K of the smallest chain

/// Scales of 8 columns.
using ScaleValues = __m256(const TileArgs& args, const uint8_t* scales);

__m256 e8m0_scales(const TileArgs&, const uint8_t* scales) { return scale_values(scales); }
__m256 fp32_scales(const TileArgs&, const uint8_t* scales) { return f32_scales(scales); }
__m256 expert_scales(const TileArgs& args, const uint8_t* scales) { return _mm256_mul_ps(e4m3_scales(scales), _mm256_set1_ps(args.expert_scale)); }

using Decode = void(const uint8_t* codes, size_t k, float* out);
template <class Codes>
void decode(const uint8_t* codes, size_t k, float* out) {
  Codes::decode(codes, k, AsIs(), out);
}

/// One kind of weights.
struct Kind {
  Decode* decode;
  size_t code_bits;
  ScaleValues* scales;
  size_t scale_bytes;
};
constexpr Kind kMxfp4{decode<E2m1>, 4, e8m0_scales, 1};
constexpr Kind kMxfp8{decode<E4m3>, 8, e8m0_scales, 1};
constexpr Kind kNvfp4{decode<E2m1>, 4, expert_scales, 1};
constexpr Kind kFp8{decode<E4m3>, 8, fp32_scales, 4};

/// One tile of rows by 16 columns over a stretch of K.
struct Stretch {
  const float* weights;
  const float* x;
  size_t k;
  size_t chain;           ///< at most k
  const float* scales;    ///< [chain][16]; null: one chain goes on through all stretches
  const float* a_scales;  ///< [chain][a_stride]; null: none
  size_t a_stride;
  float* state;  ///< [row][16]: totals, or the sums of the one chain
};

template <size_t Rows>
MXACT_INLINE void load(__m256 (&to)[Rows][2], const float* from) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) to[m][v] = _mm256_loadu_ps(from + m * kColumns + v * 8);
  }
}
template <size_t Rows>
MXACT_INLINE void store(const __m256 (&from)[Rows][2], float* to) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) _mm256_storeu_ps(to + m * kColumns + v * 8, from[m][v]);
  }
}

MXACT_INLINE __m256 with_row(__m256 scale, const float* a_scales, size_t m) {
  return a_scales == nullptr ? scale : _mm256_mul_ps(_mm256_broadcast_ss(a_scales + m), scale);
}

/// Sums of all chains first, under flushing, then their scales without.
template <size_t Rows>
void restarting(const Stretch& stretch) {
  alignas(32) float sums[kStretch / kShortest][Rows * kColumns];
  const size_t chains = (stretch.k + stretch.chain - 1) / stretch.chain;
  {
    const Flushing flushing;
    for (size_t c = 0; c < chains; ++c) {
      const size_t first = c * stretch.chain;
      __m256 part[Rows][2];
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) part[m][v] = _mm256_setzero_ps(); }
      multiply(part, stretch.weights + first * kColumns, stretch.x + first * kPlaces,
               stretch.k - first < stretch.chain ? stretch.k - first : stretch.chain);
      store(part, sums[c]);
    }
  }
  __m256 totals[Rows][2];
  load(totals, stretch.state);
  for (size_t c = 0; c < chains; ++c) {
    const float* const a_scales = stretch.a_scales == nullptr ? nullptr : stretch.a_scales + c * stretch.a_stride;
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) {
      const __m256 scale = _mm256_load_ps(stretch.scales + c * kColumns + v * 8);
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
        totals[m][v] = _mm256_fmadd_ps(_mm256_load_ps(sums[c] + m * kColumns + v * 8), with_row(scale, a_scales, m), totals[m][v]);
      }
    }
  }
  store(totals, stretch.state);
}

template <size_t Rows>
void going_on(const Stretch& stretch) {
  const Flushing flushing;
  __m256 sums[Rows][2];
  load(sums, stretch.state);
  multiply(sums, stretch.weights, stretch.x, stretch.k);
  store(sums, stretch.state);
}

using StretchFunction = void(const Stretch&);
constexpr StretchFunction* kRestarting[kRows] = {restarting<1>, restarting<2>, restarting<3>, restarting<4>, restarting<5>, restarting<6>};
constexpr StretchFunction* kGoingOn[kRows] = {going_on<1>, going_on<2>, going_on<3>, going_on<4>, going_on<5>, going_on<6>};

/// The one chain's sums times their scales.
void scale_sums(const TileArgs& args, const Kind& kind, const uint8_t* scales, float* sums) {
  for (size_t v = 0; v < 2; ++v) {
    const __m256 scale = kind.scales(args, scales + v * 8 * kind.scale_bytes);
    for (size_t row = 0; row < args.rows; ++row) {
      float* const at = sums + row * kColumns + v * 8;
      _mm256_storeu_ps(at, _mm256_fmadd_ps(_mm256_loadu_ps(at), with_row(scale, args.a_scales, row), _mm256_setzero_ps()));
    }
  }
}

void run(const TileArgs& args, const Kind& kind) {
  alignas(64) float weights[2][kStretch * kColumns];
  alignas(64) float scales[2][kStretch / kShortest * kColumns];
  alignas(64) float x[kStretch * kPlaces];
  alignas(64) float state[2][kMostRows * kColumns];
  const size_t k = args.blocks * kScaleBlock;
  const size_t chains = (k + args.chain - 1) / args.chain;
  const bool one_chain = chains == 1;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    const uint8_t* const codes = args.codes + panel * args.code_stride;
    const uint8_t* const panel_scales = args.scales + panel * args.scale_stride;
    for (size_t i = 0; i < args.rows * kColumns; ++i) state[0][i] = state[1][i] = 0;
    for (size_t first = 0; first < k; first += kStretch) {
      const size_t count = k - first < kStretch ? k - first : kStretch;
      for (size_t half = 0; half < 2; ++half) {
        kind.decode(codes + first * kind.code_bits / 8 * kPanelColumns + half * kColumns * 4, count, weights[half]);
        for (size_t c = 0; !one_chain && c * args.chain < count; ++c) {
          const uint8_t* const at = panel_scales + ((first + c * args.chain) / args.scale_block * kPanelColumns + half * kColumns) * kind.scale_bytes;
          for (size_t v = 0; v < 2; ++v) _mm256_store_ps(scales[half] + c * kColumns + v * 8, kind.scales(args, at + v * 8 * kind.scale_bytes));
        }
      }
      each_tile(args.rows, kBlockRows, [&](size_t tile, size_t height, size_t row, size_t rows) {
        widen(args.a + tile * k / 2 + first / 2 * height + row, height, count / 2, x);
        for (size_t half = 0; half < 2; ++half) {
          const StretchFunction* const function = (one_chain ? kGoingOn : kRestarting)[rows - 1];
          function({.weights = weights[half],
                    .x = x,
                    .k = count,
                    .chain = args.chain,
                    .scales = scales[half],
                    .a_scales = args.a_scales == nullptr ? nullptr : args.a_scales + tile * chains + first / args.chain * height + row,
                    .a_stride = height,
                    .state = state[half] + (tile + row) * kColumns});
        }
      });
    }
    for (size_t half = 0; half < 2; ++half) {
      if (one_chain) scale_sums(args, kind, panel_scales + half * kColumns * kind.scale_bytes, state[half]);
      put(args, panel, half, state[half]);
    }
  }
}

}  // namespace

void bf16_block_avx2(const TileArgs& args) { run(args, kMxfp4); }
void bf16_block_mxfp8_avx2(const TileArgs& args) { run(args, kMxfp8); }
void bf16_block_nvfp4_avx2(const TileArgs& args) { run(args, kNvfp4); }
void bf16_block_fp8_avx2(const TileArgs& args) { run(args, kFp8); }

}  // namespace mx::kernels::moe
