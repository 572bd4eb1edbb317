#pragma once
// What the AVX-512 engines share: 16 columns a vector, one dword of eight e2m1 codes a lane. For files of these tiers alone: nothing here has a
// linkage that another tier could pick up.

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/tile.hpp"

#define MXACT_UNROLL _Pragma("GCC unroll 16")
#define MXACT_INLINE inline __attribute__((always_inline))

namespace mx::kernels::moe {
namespace {

/// Nibble j of every 16-bit word comes to its low end; what lies above it does not matter to tables that repeat.
template <size_t J, class Vector>
MXACT_INLINE Vector nibble(Vector codes) {
  if constexpr (J == 0) return codes;
  return _mm512_srli_epi16(codes, static_cast<unsigned>(4 * J));
}

/// 16 scale bytes as the exponent field of fp32: their value, but for 0 (2^-127) and 255 (NaN).
MXACT_INLINE __m512i exponent_field(const uint8_t* scales) {
  return _mm512_slli_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales))), 23);
}

/// 16 scale bytes as fp32, all of them.
MXACT_INLINE __m512 scale_values(const uint8_t* scales) {
  const __m512i field = exponent_field(scales);
  const __m512i low = _mm512_mask_mov_epi32(field, _mm512_testn_epi32_mask(field, field), _mm512_set1_epi32(0x00400000));
  const __m512i top = _mm512_set1_epi32(0x7F800000);
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(low, _mm512_cmpeq_epi32_mask(field, top), _mm512_set1_epi32(0x7FC00000)));
}

/// The two vectors of each panel, `Vectors` of them from as many panels as that takes.
template <size_t Vectors>
struct Columns {
  const uint8_t* codes;
  const uint8_t* scales;
  size_t code_stride;
  size_t scale_stride;

  MXACT_INLINE __m512i octet(size_t v) const { return _mm512_load_si512(codes + (v / 2) * code_stride + (v % 2) * 64); }
  MXACT_INLINE const uint8_t* scales_of(size_t v) const { return scales + (v / 2) * scale_stride + (v % 2) * 16; }
  MXACT_INLINE void next_octet() { codes += 4 * kPanelColumns; }
  MXACT_INLINE void next_block() { scales += kPanelColumns; }
};

template <size_t Rows, size_t Vectors>
MXACT_INLINE void store(const __m512 (&sums)[Rows][Vectors], float* out, size_t panel_stride) {
  MXACT_UNROLL for (size_t m = 0; m < Rows; ++m) {
    MXACT_UNROLL for (size_t v = 0; v < Vectors; ++v) _mm512_storeu_ps(out + (v / 2) * panel_stride + m * kPanelColumns + (v % 2) * 16, sums[m][v]);
  }
}

}  // namespace
}  // namespace mx::kernels::moe
