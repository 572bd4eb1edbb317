// The contracts by AVX2: a vector holds 8 columns. bf16 products are fp32 fused multiply-adds, odd element first, under FTZ and DAZ, which is what
// VDPBF16PS computes; weights are decoded to fp32 for a stretch of K that the first-level cache holds, and serve all rows.

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/tile.hpp"

#define MXACT_UNROLL _Pragma("GCC unroll 16")
#define MXACT_INLINE inline __attribute__((always_inline))

namespace mx::kernels::moe {
namespace {

constexpr size_t kColumns = 16;  // decoded at once: half of a panel
constexpr size_t kStretch = 6;   // scale blocks decoded at once: 24 KiB for both halves
constexpr size_t kRows = 6;      // of a tile that sixteen registers hold
constexpr size_t kPairs = kScaleBlock / 2;

alignas(32) constexpr float kMagnitudes[8] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};

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

template <int Nibble>
MXACT_INLINE __m256 decoded(__m256i codes) {
  const __m256i sign = _mm256_and_si256(_mm256_slli_epi32(codes, 28 - 4 * Nibble), _mm256_set1_epi32(INT32_MIN));
  const __m256 magnitude = _mm256_permutevar8x32_ps(_mm256_load_ps(kMagnitudes), _mm256_srli_epi32(codes, 4 * Nibble));
  return _mm256_or_ps(magnitude, _mm256_castsi256_ps(sign));
}

/// Pairs of an octet, the odd element before the even one; nibble 4 + j of a lane is odd.
template <int J>
MXACT_INLINE void decode_pair(__m256i codes, __m256 scale, float* out) {
  _mm256_store_ps(out + J * 2 * kColumns, _mm256_mul_ps(decoded<4 + J>(codes), scale));
  _mm256_store_ps(out + (J * 2 + 1) * kColumns, _mm256_mul_ps(decoded<J>(codes), scale));
}

/// [pair of K][odd, even][16 columns] of some blocks; `folded`: times their scale.
void decode(const uint8_t* codes, const uint8_t* scales, size_t blocks, bool folded, float* out) {
  for (size_t b = 0; b < blocks; ++b) {
    for (size_t v = 0; v < 2; ++v) {
      const __m256 scale = folded ? scale_values(scales + b * kPanelColumns + v * 8) : _mm256_set1_ps(1);
      for (size_t octet = 0; octet < 4; ++octet) {
        const uint8_t* const at = codes + ((b * 4 + octet) * kPanelColumns + v * 8) * 4;
        const __m256i lanes = _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
        float* const to = out + (b * kScaleBlock + octet * 8) * kColumns + v * 8;
        decode_pair<0>(lanes, scale, to);
        decode_pair<1>(lanes, scale, to);
        decode_pair<2>(lanes, scale, to);
        decode_pair<3>(lanes, scale, to);
      }
    }
  }
}

/// Eight rows' places for each half of a pair of K, of which a tile fills some.
constexpr size_t kPlaces = 8;

/// Pairs of bf16 as fp32: [pair][odd, even][8 rows]. Up to eight dwords are read from each pair, whatever the tile's height: the operand has room.
void widen(const uint32_t* a, size_t height, size_t pairs, float* out) {
  const __m256i high = _mm256_set1_epi32(static_cast<int>(0xFFFF0000U));
  for (size_t pair = 0; pair < pairs; ++pair) {
    const __m256i rows = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + pair * height));
    _mm256_store_ps(out + pair * 2 * kPlaces, _mm256_castsi256_ps(_mm256_and_si256(rows, high)));
    _mm256_store_ps(out + (pair * 2 + 1) * kPlaces, _mm256_castsi256_ps(_mm256_slli_epi32(rows, 16)));
  }
}

/// `count` elements of K in the order of the chain.
template <size_t Rows>
MXACT_INLINE void multiply(__m256 (&sums)[Rows][2], const float* weights, const float* x, size_t count) {
#pragma GCC unroll 2
  for (size_t k = 0; k < count; ++k) {
    const __m256 low = _mm256_load_ps(weights + k * kColumns);
    const __m256 high = _mm256_load_ps(weights + k * kColumns + 8);
    MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
      const __m256 value = _mm256_broadcast_ss(x + k * kPlaces + m);
      sums[m][0] = _mm256_fmadd_ps(value, low, sums[m][0]);
      sums[m][1] = _mm256_fmadd_ps(value, high, sums[m][1]);
    }
  }
}

/// One tile of rows by 16 columns over a stretch of K; `totals` [row][16] goes on from stretch to stretch.
struct Stretch {
  const float* weights;
  const uint8_t* scales;
  size_t blocks;
  const float* x;
  float* totals;
};

/// To be run under flushing.
template <size_t Rows>
void chain(const Stretch& stretch) {
  __m256 sums[Rows][2];
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) sums[m][v] = _mm256_loadu_ps(stretch.totals + m * kColumns + v * 8);
  }
  multiply(sums, stretch.weights, stretch.x, stretch.blocks * kScaleBlock);
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < 2; ++v) _mm256_storeu_ps(stretch.totals + m * kColumns + v * 8, sums[m][v]);
  }
}

/// The sums of all blocks first, under flushing, then their scales without.
template <size_t Rows>
void block(const Stretch& stretch) {
  alignas(32) float sums[kStretch][Rows][kColumns];
  {
    const Flushing flushing;
    for (size_t b = 0; b < stretch.blocks; ++b) {
      __m256 part[Rows][2];
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) part[m][v] = _mm256_setzero_ps(); }
      multiply(part, stretch.weights + b * kScaleBlock * kColumns, stretch.x + b * kScaleBlock * kPlaces, kScaleBlock);
      MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) { MXACT_UNROLL for (size_t v = 0; v < 2; ++v) _mm256_store_ps(sums[b][m] + v * 8, part[m][v]); }
    }
  }
  for (size_t b = 0; b < stretch.blocks; ++b) {
    for (size_t v = 0; v < 2; ++v) {
      const __m256 scale = scale_values(stretch.scales + b * kPanelColumns + v * 8);
      for (size_t m = 0; m < Rows; ++m) {
        float* const total = stretch.totals + m * kColumns + v * 8;
        _mm256_storeu_ps(total, _mm256_fmadd_ps(_mm256_load_ps(sums[b][m] + v * 8), scale, _mm256_loadu_ps(total)));
      }
    }
  }
}

using StretchFunction = void(const Stretch&);
constexpr StretchFunction* kChains[kRows] = {chain<1>, chain<2>, chain<3>, chain<4>, chain<5>, chain<6>};
constexpr StretchFunction* kBlocks[kRows] = {block<1>, block<2>, block<3>, block<4>, block<5>, block<6>};

/// Totals of `rows` rows and 16 columns to their place, with bias, every NaN the same.
void put(const TileArgs& args, size_t panel, size_t half, const float* totals) {
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

/// Tiles of the operand are cut again, into what the registers hold.
template <class Visit>
MXACT_INLINE void each_tile(size_t rows, size_t tallest, Visit visit) {
  size_t first = 0;
  for (size_t t = 0; t < tile_count(rows, tallest); ++t) {
    const size_t height = tile_height(rows, tallest, t);
    for (size_t row = 0; row < height; row += kRows) visit(first, height, row, height - row < kRows ? height - row : kRows);
    first += height;
  }
}

void run(const TileArgs& args, size_t tallest, bool folded, StretchFunction* const* stretches) {
  alignas(64) float weights[2][kStretch * kScaleBlock * kColumns];
  alignas(64) float x[kStretch * kScaleBlock * kPlaces];
  alignas(64) float totals[2][kMostRows * kColumns];
  for (size_t panel = 0; panel < args.panels; ++panel) {
    for (size_t i = 0; i < args.rows * kColumns; ++i) totals[0][i] = totals[1][i] = 0;
    for (size_t b = 0; b < args.blocks; b += kStretch) {
      const size_t blocks = args.blocks - b < kStretch ? args.blocks - b : kStretch;
      const uint8_t* const codes = args.codes + panel * args.code_stride + b * kPanelBlockDwords * 4;
      const uint8_t* const scales = args.scales + panel * args.scale_stride + b * kPanelColumns;
      for (size_t half = 0; half < 2; ++half) decode(codes + half * kColumns * 4, scales + half * kColumns, blocks, folded, weights[half]);
      const auto tile = [&](size_t first, size_t height, size_t row, size_t count) {
        widen(args.a + first * args.blocks * kPairs + b * kPairs * height + row, height, blocks * kPairs, x);
        for (size_t half = 0; half < 2; ++half) {
          stretches[count - 1]({weights[half], scales + half * kColumns, blocks, x, totals[half] + (first + row) * kColumns});
        }
      };
      if (folded) {
        const Flushing flushing;
        each_tile(args.rows, tallest, tile);
      } else {
        each_tile(args.rows, tallest, tile);
      }
    }
    for (size_t half = 0; half < 2; ++half) put(args, panel, half, totals[half]);
  }
}

/// 2 * e2m1 + 12.
alignas(32) constexpr uint8_t kShifted[32] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0,
                                              12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

/// fp32 of the scale whose exponent the operand holds: (byte - 134) * 2^23.
MXACT_INLINE __m256 a_scale(int32_t exponent) {
  const int32_t byte = (exponent >> 23) + 134;
  return _mm256_castsi256_ps(_mm256_set1_epi32(byte == 0 ? 0x00400000 : byte == 255 ? 0x7FC00000 : byte << 23));
}

/// One block of 8 columns by a tile of rows. Four products of 16 bits, at most 24 * 128 * 2 each, stay below 2^15.
void int8_block(const uint8_t* codes, const uint8_t* scales, const uint32_t* a, const int32_t* starts, const int32_t* exponents, size_t height,
                float* totals) {
  const __m256i table = _mm256_load_si256(reinterpret_cast<const __m256i*>(kShifted));
  const __m256i low = _mm256_set1_epi8(15);
  __m256i weights[8];
  MXACT_UNROLL for (size_t octet = 0; octet < 4; ++octet) {
    const __m256i lanes = _mm256_load_si256(reinterpret_cast<const __m256i*>(codes + octet * kPanelColumns * 4));
    weights[2 * octet] = _mm256_shuffle_epi8(table, _mm256_and_si256(lanes, low));
    weights[2 * octet + 1] = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(lanes, 4), low));
  }
  const __m256 w_scale = scale_values(scales);
  for (size_t row = 0; row < height; ++row) {
    __m256i sum = _mm256_set1_epi32(starts[row]);
    MXACT_UNROLL for (size_t half = 0; half < 8; half += 4) {
      __m256i four = _mm256_setzero_si256();
      MXACT_UNROLL for (size_t quad = half; quad < half + 4; ++quad) {
        four = _mm256_add_epi16(four, _mm256_maddubs_epi16(weights[quad], _mm256_set1_epi32(static_cast<int>(a[quad * height + row]))));
      }
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(four, _mm256_set1_epi16(1)));
    }
    float* const total = totals + row * kColumns;
    const __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(0x1p-7F));
    const __m256 scale = _mm256_mul_ps(a_scale(exponents[row]), w_scale);
    _mm256_storeu_ps(total, _mm256_fmadd_ps(value, scale, _mm256_loadu_ps(total)));
  }
}

}  // namespace

void bf16_chain_avx2(const TileArgs& args) { run(args, kChainRows, true, kChains); }

void bf16_block_avx2(const TileArgs& args) { run(args, kBlockRows, false, kBlocks); }

void int8_block_avx2(const TileArgs& args) {
  alignas(64) float totals[kMostRows * kColumns];
  for (size_t column = 0; column < args.panels * 2; ++column) {
    const size_t panel = column / 2;
    const size_t half = column % 2;
    for (size_t i = 0; i < args.rows * kColumns; ++i) totals[i] = 0;
    size_t first = 0;
    for (size_t t = 0; t < tile_count(args.rows, kInt8Rows); ++t) {
      const size_t height = tile_height(args.rows, kInt8Rows, t);
      for (size_t b = 0; b < args.blocks; ++b) {
        const uint32_t* const a = args.a + first * args.blocks * 8 + b * 8 * height;
        const size_t place = first * args.blocks + b * height;
        for (size_t v = 0; v < 2; ++v) {
          const size_t lane = half * kColumns + v * 8;
          int8_block(args.codes + panel * args.code_stride + (b * kPanelBlockDwords + lane) * 4,
                     args.scales + panel * args.scale_stride + b * kPanelColumns + lane, a, args.a_starts + place, args.a_exponents + place, height,
                     totals + first * kColumns + v * 8);
        }
      }
      first += height;
    }
    put(args, panel, half, totals);
  }
}

}  // namespace mx::kernels::moe
