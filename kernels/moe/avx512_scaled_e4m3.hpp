#pragma once
// Lookups of e4m3 codes times a scale that many of them share, as bf16-chain rounds these products: computed once for each magnitude.

#include "kernels/moe/avx512_e4m3.hpp"
#include "kernels/moe/avx512_vectors.hpp"

namespace mx::kernels::moe {
namespace {

struct Magnitudes {
  alignas(64) uint16_t at[128];
};
constexpr Magnitudes bf16_of_magnitudes() {
  Magnitudes magnitudes{};
  for (unsigned i = 0; i < 128; ++i) magnitudes.at[i] = bf16_of_e4m3(i);
  return magnitudes;
}
constexpr Magnitudes kMagnitudes = bf16_of_magnitudes();

/// Of a moderate scale.
MXACT_INLINE E4m3Table scaled_e4m3(float scale) {
  Bytes lower;
  Bytes upper;
  for (size_t i = 0; i < 128; i += 16) {
    const __m256i bf16 = _mm256_load_si256(reinterpret_cast<const __m256i*>(kMagnitudes.at + i));
    const __m512 values = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bf16), 16));
    const __m512i products = _mm512_castps_si512(moderate_product(values, all(scale)));
    _mm_store_si128(reinterpret_cast<__m128i*>(lower.at + i), _mm512_cvtepi32_epi8(_mm512_srli_epi32(products, 16)));
    _mm_store_si128(reinterpret_cast<__m128i*>(upper.at + i), _mm512_cvtepi32_epi8(_mm512_srli_epi32(products, 24)));
  }
  return {{_mm512_load_si512(lower.at), _mm512_load_si512(lower.at + 64)}, {_mm512_load_si512(upper.at), _mm512_load_si512(upper.at + 64)}};
}

MXACT_INLINE float first_scale(const uint8_t* scales) {
  float scale;
  memcpy(&scale, scales, sizeof scale);
  return scale;
}

/// Whether the fp32 scales of as many columns are the same moderate one, as those of squares and of tensors are.
template <size_t Columns>
inline bool are_one(const TileArgs&, const uint8_t* scales) {
  uint32_t first;
  memcpy(&first, scales, sizeof first);
  uint32_t differences = 0;
  for (size_t i = 1; i < Columns; ++i) {
    uint32_t scale;
    memcpy(&scale, scales + i * sizeof scale, sizeof scale);
    differences |= scale ^ first;
  }
  return differences == 0 && is_moderate(first_scale(scales));
}

}  // namespace
}  // namespace mx::kernels::moe
