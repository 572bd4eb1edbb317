#pragma once
// avx512_vectors.hpp with lookups of e4m3 codes.

#include "kernels/moe/avx512_e4m3.hpp"
#include "kernels/moe/avx512_vectors.hpp"

namespace mx::kernels::moe {
namespace {

/// Of pairs of bytes 0 and 2, and of 1 and 3, what byte `Byte` became. Bytes of one vector share how these are made.
template <size_t Byte>
MXACT_INLINE Floats one_of(const __m512i (&pairs)[2]) {
  const __m512i pair = pairs[Byte % 2];
  return _mm512_castsi512_ps(Byte < 2 ? _mm512_slli_epi32(pair, 16) : _mm512_and_si512(pair, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U))));
}

template <size_t Byte>
MXACT_INLINE Floats decoded_byte(Dwords codes, const E4m3Table& table) {
  __m512i pairs[2];
  table.decode(codes, pairs);
  return one_of<Byte>(pairs);
}
template <size_t Byte>
MXACT_INLINE Floats decoded_byte(Dwords codes) {
  return decoded_byte<Byte>(codes, E4m3Table());
}

}  // namespace
}  // namespace mx::kernels::moe
