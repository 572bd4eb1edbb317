#pragma once
// Codes of MXFP8, NVFP4 and FP8 weights as pairs of bf16 in registers, for the AVX-512 engines of bf16.

#include "kernels/moe/avx512_lanes.hpp"
#include "kernels/moe/e4m3.hpp"

namespace mx::kernels::moe {
namespace {

struct Bytes {
  alignas(64) uint8_t at[128];
};
constexpr Bytes bytes_of_e4m3(unsigned shift) {
  Bytes bytes{};
  for (unsigned i = 0; i < 128; ++i) bytes.at[i] = static_cast<uint8_t>(bf16_of_e4m3(i) >> shift);
  return bytes;
}
/// e4m3 magnitudes as bf16, byte by byte: VPERMI2B's index has seven bits.
constexpr Bytes kLower = bytes_of_e4m3(0);
constexpr Bytes kUpper = bytes_of_e4m3(8);

/// Sixteen of K of 16 columns as eight vectors of pairs.
struct E2m1 {
  static constexpr size_t kDwords = 2;
  __m512i table = _mm512_load_si512(kE2m1Codes);

  /// Four pairs from a vector of dwords.
  static constexpr size_t kPairs = 4;
  MXACT_INLINE void decode(__m512i codes, __m512i (&pairs)[kPairs]) const {
    pairs[0] = _mm512_permutexvar_epi16(codes, table);
    pairs[1] = _mm512_permutexvar_epi16(nibble<1>(codes), table);
    pairs[2] = _mm512_permutexvar_epi16(nibble<2>(codes), table);
    pairs[3] = _mm512_permutexvar_epi16(nibble<3>(codes), table);
  }
};

struct E4m3 {
  static constexpr size_t kDwords = 4;
  __m512i lower[2] = {_mm512_load_si512(kLower.at), _mm512_load_si512(kLower.at + 64)};
  __m512i upper[2] = {_mm512_load_si512(kUpper.at), _mm512_load_si512(kUpper.at + 64)};

  /// Two pairs: bytes 0 and 2 of a dword, then 1 and 3.
  static constexpr size_t kPairs = 2;
  MXACT_INLINE void decode(__m512i codes, __m512i (&pairs)[kPairs]) const {
    constexpr int kFirstOrSecondAndThird = 0xF8;
    constexpr int kThirdChooses = 0xE4;  // bits of the first where the third has them, else of the second
    const __m512i low = _mm512_permutex2var_epi8(lower[0], codes, lower[1]);
    const __m512i magnitude = _mm512_permutex2var_epi8(upper[0], codes, upper[1]);
    const __m512i high = _mm512_ternarylogic_epi32(magnitude, codes, _mm512_set1_epi8(static_cast<char>(0x80)), kFirstOrSecondAndThird);
    const __m512i lower_bytes = _mm512_set1_epi16(0x00FF);
    pairs[0] = _mm512_ternarylogic_epi32(low, _mm512_slli_epi16(high, 8), lower_bytes, kThirdChooses);
    pairs[1] = _mm512_ternarylogic_epi32(_mm512_srli_epi16(low, 8), high, lower_bytes, kThirdChooses);
  }
};

/// The same pair in all lanes. clang 16 recurses without end over _mm512_set1_epi32 as bf16; from a register of four lanes it does not.
MXACT_INLINE __m512bh pair_of(const uint32_t* a) {
  return reinterpret_cast<__m512bh>(_mm512_broadcastd_epi32(_mm_cvtsi32_si128(static_cast<int>(*a))));
}
MXACT_INLINE __m512 dot_pair(__m512 sum, __m512i weights, __m512bh a) { return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(weights), a); }

}  // namespace
}  // namespace mx::kernels::moe
