#pragma once
// e2m1 by AVX2 where no number is subnormal: zeros come without their sign, which no sum sees unless it was flushed to -0 itself. Other than
// nibble_at() this looks up bytes for 32 codes at once.

#include "kernels/moe/avx2_vectors.hpp"
// The vectors come first.
#include "kernels/moe/fma_decode.hpp"

namespace mx::kernels::moe {
namespace {

/// Twice each code's number plus 12, for both halves of a vector.
struct Shifted {
  alignas(32) uint8_t bytes[32];
};
constexpr Shifted shifted() {
  Shifted table{};
  for (size_t i = 0; i < 32; ++i) table.bytes[i] = static_cast<uint8_t>(2 * kNumbers[i % 16] + 12);
  return table;
}
constexpr Shifted kShifted = shifted();

/// Bytes `Byte` of the dwords, without what lies beside them.
template <size_t Byte>
MXACT_INLINE Dwords only_byte(Dwords dwords) {
  constexpr int kPlace = static_cast<int>(0x80808000U + Byte);
  return _mm256_shuffle_epi8(dwords, _mm256_setr_epi32(kPlace, kPlace + 4, kPlace + 8, kPlace + 12, kPlace, kPlace + 4, kPlace + 8, kPlace + 12));
}

/// Numbers of a nibble of each dword. Their bytes go below the digits of a float whose last one counts 1/2, and from that 6 more than the float is
/// taken.
template <size_t Nibble>
MXACT_INLINE Floats unsigned_zero_nibble_at(const uint8_t* dwords) {
  constexpr float kFloat = 0x1.8p22F;
  const Dwords codes = Nibble % 2 == 0 ? load_dwords(dwords) : _mm256_srli_epi16(load_dwords(dwords), 4);
  const Dwords bytes = _mm256_shuffle_epi8(load_dwords(kShifted.bytes), _mm256_and_si256(codes, _mm256_set1_epi8(15)));
  const Floats number = _mm256_or_ps(_mm256_castsi256_ps(only_byte<Nibble / 2>(bytes)), all(kFloat));
  return _mm256_sub_ps(number, all(kFloat + 6));
}

struct UnsignedZeroE2m1 : E2m1 {
  template <size_t I>
  MXACT_INLINE static Floats weight(const uint8_t* dwords) {
    return unsigned_zero_nibble_at<kNibble<I>>(dwords);
  }
};

}  // namespace
}  // namespace mx::kernels::moe
