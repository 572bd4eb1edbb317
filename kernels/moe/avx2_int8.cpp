// int8-block by AVX2: the unsigned factor is twice the weight plus 12; products of 16 bits are summed by four.

#include "kernels/moe/avx2_vectors.hpp"
#include "kernels/moe/fma_lanes.hpp"

namespace mx::kernels::moe {
namespace {

/// 2 * e2m1 + 12.
alignas(32) constexpr uint8_t kShifted[32] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0,
                                              12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

/// fp32 of the scale that a base was made of.
MXACT_INLINE __m256 a_scale(int32_t base) {
  const int32_t byte = scale_byte_of(base);
  return _mm256_castsi256_ps(_mm256_set1_epi32(byte == 0 ? 0x00400000 : byte == 255 ? 0x7FC00000 : byte << 23));
}

/// Weights' scales of 8 columns.
using ScaleValues = __m256(const TileArgs& args, const uint8_t* scales);
MXACT_INLINE __m256 e8m0(const TileArgs&, const uint8_t* scales) { return scale_values(scales); }
MXACT_INLINE __m256 e4m3(const TileArgs& args, const uint8_t* scales) {
  return _mm256_mul_ps(e4m3_scales(scales), _mm256_set1_ps(args.expert_scale));
}

/// One scale block, `Octets` of K, of 8 columns by a tile of rows. Four products of 16 bits, at most 24 * 128 * 2 each, stay below 2^15.
template <size_t Octets>
MXACT_INLINE void int8_block(const uint8_t* codes, __m256 w_scale, const uint32_t* a, const int32_t* starts, const int32_t* bases, size_t height,
                             float* totals) {
  const __m256i table = _mm256_load_si256(reinterpret_cast<const __m256i*>(kShifted));
  const __m256i low = _mm256_set1_epi8(15);
  __m256i weights[2 * Octets];
  MXACT_UNROLL for (size_t octet = 0; octet < Octets; ++octet) {
    const __m256i lanes = _mm256_load_si256(reinterpret_cast<const __m256i*>(codes + octet * kPanelColumns * 4));
    weights[2 * octet] = _mm256_shuffle_epi8(table, _mm256_and_si256(lanes, low));
    weights[2 * octet + 1] = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(lanes, 4), low));
  }
  for (size_t row = 0; row < height; ++row) {
    __m256i sum = _mm256_sub_epi32(_mm256_set1_epi32(starts[row]), _mm256_set1_epi32(bases[row]));
    MXACT_UNROLL for (size_t half = 0; half < 2 * Octets; half += 4) {
      __m256i four = _mm256_setzero_si256();
      MXACT_UNROLL for (size_t quad = half; quad < half + 4; ++quad) {
        four = _mm256_add_epi16(four, _mm256_maddubs_epi16(weights[quad], _mm256_set1_epi32(static_cast<int>(a[quad * height + row]))));
      }
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(four, _mm256_set1_epi16(1)));
    }
    float* const total = totals + row * kColumns;
    const __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(0x1p-7F));
    const __m256 scale = _mm256_mul_ps(a_scale(bases[row]), w_scale);
    _mm256_storeu_ps(total, _mm256_fmadd_ps(value, scale, _mm256_loadu_ps(total)));
  }
}

template <size_t Octets, ScaleValues* Scales>
void run(const TileArgs& args) {
  constexpr size_t kPerScale = kScaleBlock / 8 / Octets;  // blocks that share a scale of the activations
  alignas(64) float totals[kMostRows * kColumns];
  const size_t blocks = args.blocks * kPerScale;
  for (size_t column = 0; column < args.panels * 2; ++column) {
    const size_t panel = column / 2;
    const size_t half = column % 2;
    for (size_t i = 0; i < args.rows * kColumns; ++i) totals[i] = 0;
    size_t first = 0;
    for (size_t t = 0; t < tile_count(args.rows, kInt8Rows); ++t) {
      const size_t height = tile_height(args.rows, kInt8Rows, t);
      for (size_t b = 0; b < blocks; ++b) {
        const uint32_t* const a = args.a + (first * blocks + b * height) * 2 * Octets;
        for (size_t v = 0; v < 2; ++v) {
          const size_t lane = half * kColumns + v * 8;
          const __m256 scale = Scales(args, args.scales + panel * args.scale_stride + b * kPanelColumns + lane);
          int8_block<Octets>(args.codes + panel * args.code_stride + (b * Octets * kPanelColumns + lane) * 4, scale, a,
                             args.a_starts + first * blocks + b * height, args.a_bases + first * args.blocks + b / kPerScale * height, height,
                             totals + first * kColumns + v * 8);
        }
      }
      first += height;
    }
    put(args, panel, half, totals);
  }
}

}  // namespace

void int8_block_avx2(const TileArgs& args) { run<4, e8m0>(args); }
void int8_block_nvfp4_avx2(const TileArgs& args) { run<2, e4m3>(args); }

}  // namespace mx::kernels::moe
