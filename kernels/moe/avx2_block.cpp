// bf16-block by AVX2, of every kind of weights: sums of chains under flushing, their scales without.

#include "kernels/moe/avx2_lanes.hpp"
#include "kernels/moe/e4m3.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kStretch = 128;  // K decoded at once, whole chains: 16 KiB for both halves
constexpr size_t kShortest = 16;  // K of the smallest chain

/// Decodes `k` of K of 16 columns, whose dwords begin at `codes`: [pair of K][odd, even][16 columns].
using Decode = void(const uint8_t* codes, size_t k, float* out);

/// One vector of columns, whole dwords.
template <class Dword>
MXACT_INLINE void each_dword(const uint8_t* codes, size_t count, Dword dword) {
  for (size_t d = 0; d < count; ++d) {
    for (size_t v = 0; v < 2; ++v) dword(d, v, _mm256_load_si256(reinterpret_cast<const __m256i*>(codes + (d * kPanelColumns + v * 8) * 4)));
  }
}

MXACT_INLINE void put_pair(float* out, size_t pair, size_t v, __m256 odd, __m256 even) {
  _mm256_store_ps(out + pair * 2 * kColumns + v * 8, odd);
  _mm256_store_ps(out + (pair * 2 + 1) * kColumns + v * 8, even);
}

void decode_e2m1(const uint8_t* codes, size_t k, float* out) {
  each_dword(
      codes, k / 8, [&](size_t d, size_t v, __m256i lanes) __attribute__((always_inline)) {
        put_pair(out, d * 4, v, decoded<4>(lanes), decoded<0>(lanes));
        put_pair(out, d * 4 + 1, v, decoded<5>(lanes), decoded<1>(lanes));
        put_pair(out, d * 4 + 2, v, decoded<6>(lanes), decoded<2>(lanes));
        put_pair(out, d * 4 + 3, v, decoded<7>(lanes), decoded<3>(lanes));
      });
}

/// Eight e4m3 codes, each in the low byte of a dword whose other bytes are zero. fp16 has e4m3's fields with another bias: 2^-8 of the number, but
/// for NaN.
MXACT_INLINE __m256 e4m3_values(__m256i codes) {
  const __m256i magnitude = _mm256_and_si256(codes, _mm256_set1_epi32(0x7F));
  const __m256i nan = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x7F));
  const __m256i number = _mm256_or_si256(_mm256_slli_epi32(magnitude, 7), _mm256_slli_epi32(_mm256_and_si256(codes, _mm256_set1_epi32(0x80)), 8));
  const __m256i fp16 = _mm256_blendv_epi8(number, _mm256_set1_epi32(0x7E00), nan);
  const __m256i packed = _mm256_packus_epi32(fp16, fp16);
  const __m128i eight = _mm_unpacklo_epi64(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1));
  return _mm256_mul_ps(_mm256_cvtph_ps(eight), _mm256_set1_ps(256));
}

/// A dword's bytes are k 0, 2, 1, 3 of its quad.
void decode_e4m3(const uint8_t* codes, size_t k, float* out) {
  const __m256i low = _mm256_set1_epi32(0xFF);
  each_dword(
      codes, k / 4, [&](size_t d, size_t v, __m256i lanes) __attribute__((always_inline)) {
        const __m256 k0 = e4m3_values(_mm256_and_si256(lanes, low));
        const __m256 k2 = e4m3_values(_mm256_and_si256(_mm256_srli_epi32(lanes, 8), low));
        const __m256 k1 = e4m3_values(_mm256_and_si256(_mm256_srli_epi32(lanes, 16), low));
        const __m256 k3 = e4m3_values(_mm256_srli_epi32(lanes, 24));
        put_pair(out, d * 2, v, k1, k0);
        put_pair(out, d * 2 + 1, v, k3, k2);
      });
}

/// Scales of 8 columns.
using ScaleValues = __m256(const TileArgs& args, const uint8_t* scales);

__m256 e8m0_scales(const TileArgs&, const uint8_t* scales) { return scale_values(scales); }
__m256 f32_scales(const TileArgs&, const uint8_t* scales) { return _mm256_loadu_ps(reinterpret_cast<const float*>(scales)); }
__m256 e4m3_scales(const TileArgs& args, const uint8_t* scales) {
  const __m256i codes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales)));
  return _mm256_mul_ps(e4m3_values(codes), _mm256_set1_ps(args.expert_scale));
}

/// One kind of weights.
struct Kind {
  Decode* decode;
  size_t code_bits;
  ScaleValues* scales;
  size_t scale_bytes;
};
constexpr Kind kMxfp4{decode_e2m1, 4, e8m0_scales, 1};
constexpr Kind kMxfp8{decode_e4m3, 8, e8m0_scales, 1};
constexpr Kind kNvfp4{decode_e2m1, 4, e4m3_scales, 1};
constexpr Kind kFp8{decode_e4m3, 8, f32_scales, 4};

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
