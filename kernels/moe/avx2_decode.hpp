#pragma once
// Codes of a panel's weights and their scales as fp32, for the AVX2 engines of bf16: 8 columns a vector, [pair of K][odd, even][16 columns].

#include "kernels/moe/avx2_lanes.hpp"
#include "kernels/moe/bf16_product.hpp"

namespace mx::kernels::moe {
namespace {

/// What becomes of a decoded weight of vector `v` before it is stored: nothing.
struct AsIs {
  MXACT_INLINE __m256 operator()(size_t, __m256 weight) const { return weight; }
};

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

/// Decodes `k` of K of 16 columns, whose dwords begin at `codes`.
struct E2m1 {
  static constexpr size_t kBits = 4;
  template <class Fold>
  static void decode(const uint8_t* codes, size_t k, const Fold& fold, float* out) {
    each_dword(
        codes, k / 8, [&](size_t d, size_t v, __m256i lanes) __attribute__((always_inline)) {
          put_pair(out, d * 4, v, fold(v, decoded<4>(lanes)), fold(v, decoded<0>(lanes)));
          put_pair(out, d * 4 + 1, v, fold(v, decoded<5>(lanes)), fold(v, decoded<1>(lanes)));
          put_pair(out, d * 4 + 2, v, fold(v, decoded<6>(lanes)), fold(v, decoded<2>(lanes)));
          put_pair(out, d * 4 + 3, v, fold(v, decoded<7>(lanes)), fold(v, decoded<3>(lanes)));
        });
  }
};

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
struct E4m3 {
  static constexpr size_t kBits = 8;
  template <class Fold>
  static void decode(const uint8_t* codes, size_t k, const Fold& fold, float* out) {
    const __m256i low = _mm256_set1_epi32(0xFF);
    each_dword(
        codes, k / 4, [&](size_t d, size_t v, __m256i lanes) __attribute__((always_inline)) {
          const __m256 k0 = e4m3_values(_mm256_and_si256(lanes, low));
          const __m256 k2 = e4m3_values(_mm256_and_si256(_mm256_srli_epi32(lanes, 8), low));
          const __m256 k1 = e4m3_values(_mm256_and_si256(_mm256_srli_epi32(lanes, 16), low));
          const __m256 k3 = e4m3_values(_mm256_srli_epi32(lanes, 24));
          put_pair(out, d * 2, v, fold(v, k1), fold(v, k0));
          put_pair(out, d * 2 + 1, v, fold(v, k3), fold(v, k2));
        });
  }
};

/// Scales of 8 columns.
MXACT_INLINE __m256 e4m3_scales(const uint8_t* scales) {
  return e4m3_values(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales))));
}
MXACT_INLINE __m256 f32_scales(const uint8_t* scales) { return _mm256_loadu_ps(reinterpret_cast<const float*>(scales)); }

/// bf16_product of weights and moderate scales.
MXACT_INLINE __m256 moderate_product(__m256 weight, __m256 scale) {
  const __m256 product = _mm256_mul_ps(weight, scale);
  const __m256i power = _mm256_and_si256(_mm256_castps_si256(product), _mm256_set1_epi32(0x7F800000));
  const __m256 rounder = _mm256_castsi256_ps(_mm256_add_epi32(power, _mm256_set1_epi32(kRounderBits)));
  const __m256 rounded = _mm256_sub_ps(_mm256_fmadd_ps(weight, scale, rounder), rounder);
  return _mm256_or_ps(rounded, _mm256_and_ps(product, _mm256_set1_ps(-0.0F)));
}

/// The same of any scales.
MXACT_INLINE __m256 any_product(__m256 weight, __m256 scale) {
  alignas(32) float weights[8], scales[8];
  _mm256_store_ps(weights, weight);
  _mm256_store_ps(scales, scale);
  for (size_t i = 0; i < 8; ++i) weights[i] = bf16_product(weights[i], scales[i]);
  return _mm256_load_ps(weights);
}

}  // namespace
}  // namespace mx::kernels::moe
