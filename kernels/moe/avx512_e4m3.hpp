#pragma once
// e4m3 codes as pairs of bf16, by lookups of bytes (VBMI).

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

/// A code's sign goes with that of its magnitude's number.
struct E4m3Table {
  __m512i lower[2] = {_mm512_load_si512(kLower.at), _mm512_load_si512(kLower.at + 64)};
  __m512i upper[2] = {_mm512_load_si512(kUpper.at), _mm512_load_si512(kUpper.at + 64)};

  /// Of each code the two bytes of its number.
  struct Halves {
    __m512i low;
    __m512i high;
  };
  MXACT_INLINE Halves look_up(__m512i codes) const {
    constexpr int kFirstButSecondAndThird = 0x78;
    const __m512i magnitude = _mm512_permutex2var_epi8(upper[0], codes, upper[1]);
    return {_mm512_permutex2var_epi8(lower[0], codes, lower[1]),
            _mm512_ternarylogic_epi32(magnitude, codes, _mm512_set1_epi8(static_cast<char>(0x80)), kFirstButSecondAndThird)};
  }
  /// Two pairs: bytes 0 and 2 of a dword, then 1 and 3.
  MXACT_INLINE void decode(__m512i codes, __m512i (&pairs)[2]) const {
    constexpr int kThirdChooses = 0xE4;  // bits of the first where the third has them, else of the second
    const auto [low, high] = look_up(codes);
    const __m512i lower_bytes = _mm512_set1_epi16(0x00FF);
    pairs[0] = _mm512_ternarylogic_epi32(low, _mm512_slli_epi16(high, 8), lower_bytes, kThirdChooses);
    pairs[1] = _mm512_ternarylogic_epi32(_mm512_srli_epi16(low, 8), high, lower_bytes, kThirdChooses);
  }
};

/// Numbers of sixteen of the codes as fp32: their bytes to the upper halves of dwords, `order` says from where (widening()).
MXACT_INLINE __m512 widened(const E4m3Table::Halves& halves, const uint8_t* order) {
  constexpr __mmask64 kUpperHalves = 0xCCCCCCCCCCCCCCCCU;
  return _mm512_castsi512_ps(_mm512_maskz_permutex2var_epi8(kUpperHalves, halves.low, _mm512_load_si512(order), halves.high));
}
/// Dword i takes the code at the byte `first + i * step`.
constexpr Bytes widening(unsigned first, unsigned step) {
  Bytes order{};
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned byte = first + i * step;
    order.at[4 * i + 2] = static_cast<uint8_t>(byte);
    order.at[4 * i + 3] = static_cast<uint8_t>(64 + byte);
  }
  return order;
}

}  // namespace
}  // namespace mx::kernels::moe
