#pragma once
// What the AVX2 engines share: 8 columns a vector. bf16 products are fp32 fused multiply-adds, odd element first, under FTZ and DAZ, which is what
// VDPBF16PS computes; weights are decoded to fp32 for a stretch of K that the first-level cache holds, and serve all rows. For files of this tier
// alone: nothing here has a linkage that another tier could pick up.

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/tile.hpp"

#define MXACT_UNROLL _Pragma("GCC unroll 16")
#define MXACT_INLINE inline __attribute__((always_inline))

namespace mx::kernels::moe {
namespace {

constexpr size_t kColumns = 16;  // decoded at once: half of a panel

alignas(32) constexpr float kMagnitudes[8] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};

template <int Nibble>
MXACT_INLINE __m256 decoded(__m256i codes) {
  const __m256i sign = _mm256_and_si256(_mm256_slli_epi32(codes, 28 - 4 * Nibble), _mm256_set1_epi32(INT32_MIN));
  const __m256 magnitude = _mm256_permutevar8x32_ps(_mm256_load_ps(kMagnitudes), _mm256_srli_epi32(codes, 4 * Nibble));
  return _mm256_or_ps(magnitude, _mm256_castsi256_ps(sign));
}

/// 8 scale bytes as fp32: 0 is 2^-127, 255 NaN.
MXACT_INLINE __m256 scale_values(const uint8_t* scales) {
  const __m256i field = _mm256_slli_epi32(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales))), 23);
  const __m256i zero = _mm256_cmpeq_epi32(field, _mm256_setzero_si256());
  const __m256i top = _mm256_cmpeq_epi32(field, _mm256_set1_epi32(0x7F800000));
  const __m256i low = _mm256_or_si256(field, _mm256_and_si256(zero, _mm256_set1_epi32(0x00400000)));
  return _mm256_castsi256_ps(_mm256_or_si256(low, _mm256_and_si256(top, _mm256_set1_epi32(0x00400000))));
}

/// Subnormals count as zero from here to the end of the scope, before and after each operation.
class Flushing {
 public:
  MXACT_INLINE Flushing() : was_(_mm_getcsr()) {
    constexpr unsigned kFlush = 0x8040;
    _mm_setcsr(was_ | kFlush);
  }
  MXACT_INLINE ~Flushing() { _mm_setcsr(was_); }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;

 private:
  unsigned was_;
};

/// `count` elements of K in the order of the chain, of rows of `length`. The next tile's are asked for meanwhile: it lies on other pages, where the
/// processor does not foresee it.
template <size_t Rows>
MXACT_INLINE void multiply(__m256 (&sums)[Rows][2], const float* weights, const float* x, size_t count, size_t length) {
#pragma GCC unroll 2
  for (size_t k = 0; k < count; ++k) {
    _mm_prefetch(reinterpret_cast<const char*>(x + (length + k) * Rows), _MM_HINT_T0);
    const __m256 low = _mm256_load_ps(weights + k * kColumns);
    const __m256 high = _mm256_load_ps(weights + k * kColumns + 8);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      const __m256 value = _mm256_broadcast_ss(x + k * Rows + m);
      sums[m][0] = _mm256_fmadd_ps(value, low, sums[m][0]);
      sums[m][1] = _mm256_fmadd_ps(value, high, sums[m][1]);
    }
  }
}

template <size_t Rows>
MXACT_INLINE void load(__m256 (&to)[Rows][2], const float* from) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) to[m][v] = _mm256_load_ps(from + m * kColumns + v * 8);
  }
}
template <size_t Rows>
MXACT_INLINE void store(const __m256 (&from)[Rows][2], float* to) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) _mm256_store_ps(to + m * kColumns + v * 8, from[m][v]);
  }
}

/// One tile of rows by 16 columns: chains that go on from `sums` [row][16] over `k` more of `length`. To be run under flushing.
using GoOn = void(const float* weights, const float* x, size_t k, size_t length, float* sums);
template <size_t Rows>
void go_on(const float* weights, const float* x, size_t k, size_t length, float* sums) {
  __m256 registers[Rows][2];
  load(registers, sums);
  multiply(registers, weights, x, k, length);
  store(registers, sums);
}
constexpr GoOn* kGoOn[kSingleRows] = {go_on<1>, go_on<2>, go_on<3>, go_on<4>, go_on<5>, go_on<6>};

/// Rows of a tile as fp32, from `first` of K on.
MXACT_INLINE const float* singles(const TileArgs& args, size_t row, size_t height, size_t first) {
  return reinterpret_cast<const float*>(args.a) + row * args.blocks * kScaleBlock + first * height;
}

/// Totals of `rows` rows and 16 columns to their place, with bias, every NaN the same.
inline void put(const TileArgs& args, size_t panel, size_t half, const float* totals) {
  const float* const bias = args.bias == nullptr ? nullptr : args.bias + panel * kPanelColumns + half * kColumns;
  float* const out = args.out + panel * args.panel_stride + half * args.half_stride;
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
  for (size_t row = 0; row < args.rows; ++row) {
    for (size_t v = 0; v < 2; ++v) {
      __m256 value = _mm256_loadu_ps(totals + row * kColumns + v * 8);
      if (bias != nullptr) value = _mm256_add_ps(value, _mm256_loadu_ps(bias + v * 8));
      value = _mm256_blendv_ps(value, nan, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
      _mm256_storeu_ps(out + row * args.row_stride + v * 8, value);
    }
  }
}

/// Calls with (first row of a tile, its height).
template <class Visit>
MXACT_INLINE void each_tile(size_t rows, Visit visit) {
  size_t first = 0;
  for (size_t t = 0; t < tile_count(rows, kSingleRows); ++t) {
    const size_t height = tile_height(rows, kSingleRows, t);
    visit(first, height);
    first += height;
  }
}

}  // namespace
}  // namespace mx::kernels::moe
