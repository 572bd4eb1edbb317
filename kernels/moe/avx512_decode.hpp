#pragma once
// Codes of MXFP8, NVFP4 and FP8 weights as pairs of bf16 in registers, for the AVX-512 kernels of bf16.

#include "kernels/moe/avx512_e4m3.hpp"

namespace mx::kernels::moe {
namespace {

/// Sixteen of K of 16 columns as eight vectors of pairs.
struct E2m1 {
  static constexpr size_t kDwords = 2;
  __m512i table = _mm512_load_si512(kE2m1Codes);

  /// Four pairs from a vector of dwords.
  static constexpr size_t kPairs = 4;
  MXACT_INLINE void decode(const uint8_t* dwords, __m512i (&pairs)[kPairs]) const {
    pairs[0] = _mm512_permutexvar_epi16(words_of<0>(dwords), table);
    pairs[1] = _mm512_permutexvar_epi16(words_of<1>(dwords), table);
    pairs[2] = _mm512_permutexvar_epi16(words_of<2>(dwords), table);
    pairs[3] = _mm512_permutexvar_epi16(words_of<3>(dwords), table);
  }
};

struct E4m3 {
  static constexpr size_t kDwords = 4;
  E4m3Table table;

  static constexpr size_t kPairs = 2;
  MXACT_INLINE void decode(const uint8_t* dwords, __m512i (&pairs)[kPairs]) const { table.decode(_mm512_load_si512(dwords), pairs); }
};

/// e2m1 as bf16, twice, times 2^125, the scale of byte 252, and without a negative zero: a smaller scale is taken off the exponent by a saturating
/// subtraction, which leaves zeros alone. Where nothing is flushed, the sign of a zero weight decides no bit: sums are never -0.
alignas(64) constexpr uint16_t kLargest[32] = {0x0000, 0x7D80, 0x7E00, 0x7E40, 0x7E80, 0x7EC0, 0x7F00, 0x7F40, 0x0000, 0xFD80, 0xFE00,
                                               0xFE40, 0xFE80, 0xFEC0, 0xFF00, 0xFF40, 0x0000, 0x7D80, 0x7E00, 0x7E40, 0x7E80, 0x7EC0,
                                               0x7F00, 0x7F40, 0x0000, 0xFD80, 0xFE00, 0xFE40, 0xFE80, 0xFEC0, 0xFF00, 0xFF40};
/// What 16 such scales, bytes from 2 to 252, take off the words of the table.
MXACT_INLINE __m512i below_largest(const uint8_t* scales) {
  const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales)));
  const __m512i below = _mm512_sub_epi32(_mm512_set1_epi32(252), bytes);
  return _mm512_or_si512(_mm512_slli_epi32(below, 7), _mm512_slli_epi32(below, 23));
}

/// The same pair in all lanes. clang 16 recurses without end over _mm512_set1_epi32 as bf16; from a register of four lanes it does not.
MXACT_INLINE __m512bh pair_of(const uint32_t* a) {
  return reinterpret_cast<__m512bh>(_mm512_broadcastd_epi32(_mm_cvtsi32_si128(static_cast<int>(*a))));
}
MXACT_INLINE __m512 dot_pair(__m512 sum, __m512i weights, __m512bh a) { return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(weights), a); }

}  // namespace
}  // namespace mx::kernels::moe
