#pragma once
// Vectors of 8 floats, for the kernels of bf16 by fused multiply-adds (fma_lanes.hpp).

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/bf16_product.hpp"
#include "kernels/moe/tile.hpp"
#include "kernels/moe/x86_flushing.hpp"

namespace mx::kernels::moe {
namespace {

using Floats = __m256;
using Dwords = __m256i;
constexpr size_t kWidth = 8;

MXACT_INLINE Floats zeros() { return _mm256_setzero_ps(); }
MXACT_INLINE Floats all(float x) { return _mm256_set1_ps(x); }
MXACT_INLINE Floats all_of(const float* from) { return _mm256_broadcast_ss(from); }
MXACT_INLINE Floats load(const float* from) { return _mm256_loadu_ps(from); }
MXACT_INLINE void store(float* to, Floats x) { _mm256_storeu_ps(to, x); }
MXACT_INLINE Floats sum(Floats a, Floats b) { return _mm256_add_ps(a, b); }
MXACT_INLINE Floats product(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
MXACT_INLINE Floats fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
/// Where weights are decoded beside it: six rows were slower with sums held in place.
MXACT_INLINE void add_product(Floats& sum, Floats a, Floats b) { sum = fused(a, b, sum); }
/// A value's products with both vectors of columns, to sums that stay in their registers: compilers otherwise run out of the sixteen.
MXACT_INLINE void add_products(Floats (&sums)[2], const float* value, Floats low, Floats high) {
  Floats values;
  __asm__("vbroadcastss %3, %2\n\tvfmadd231ps %4, %2, %0\n\tvfmadd231ps %5, %2, %1"
          : "+x"(sums[0]), "+x"(sums[1]), "=&x"(values)
          : "m"(*value), "x"(low), "x"(high));
}
MXACT_INLINE Dwords load_dwords(const uint8_t* from) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(from)); }

/// Scale bytes in the fields of exponents, and 2 to the difference of two.
MXACT_INLINE Dwords scale_fields(const uint8_t* scales) {
  return _mm256_slli_epi32(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales))), 23);
}
MXACT_INLINE Dwords unit_field() { return _mm256_set1_epi32(0x3F800000); }
MXACT_INLINE Floats power_between(Dwords from, Dwords to) { return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_sub_epi32(from, to), unit_field())); }

/// Every NaN as the same.
MXACT_INLINE Floats one_nan(Floats x) {
  return _mm256_blendv_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000)), _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

/// Numbers of a nibble of each dword, by the positive half of a table.
template <size_t Nibble>
MXACT_INLINE Floats nibble_at(const uint8_t* dwords, const float* table) {
  const __m256i codes = load_dwords(dwords);
  const __m256i sign = _mm256_and_si256(_mm256_slli_epi32(codes, static_cast<int>(28 - 4 * Nibble)), _mm256_set1_epi32(INT32_MIN));
  const __m256 magnitude = _mm256_permutevar8x32_ps(_mm256_load_ps(table), _mm256_srli_epi32(codes, static_cast<int>(4 * Nibble)));
  return _mm256_or_ps(magnitude, _mm256_castsi256_ps(sign));
}

/// 8 scale bytes as fp32: 0 is 2^-127, 255 NaN.
MXACT_INLINE Floats scale_values(const uint8_t* scales) {
  const __m256i field = scale_fields(scales);
  const __m256i zero = _mm256_cmpeq_epi32(field, _mm256_setzero_si256());
  const __m256i top = _mm256_cmpeq_epi32(field, _mm256_set1_epi32(0x7F800000));
  const __m256i low = _mm256_or_si256(field, _mm256_and_si256(zero, _mm256_set1_epi32(0x00400000)));
  return _mm256_castsi256_ps(_mm256_or_si256(low, _mm256_and_si256(top, _mm256_set1_epi32(0x00400000))));
}

/// The e4m3 codes in bytes `Byte` of the dwords. With its fields where fp32 has them, a normal number n is itself; what a subnormal one comes to, as
/// if its first digit were 1, is below 2^-6, and twice that less 2^-6 is the number.
template <size_t Byte>
MXACT_INLINE Floats decoded_byte(Dwords codes) {
  constexpr int kUp = 20 - 8 * static_cast<int>(Byte);
  const __m256i shifted = kUp > 0 ? _mm256_slli_epi32(codes, kUp) : _mm256_srli_epi32(codes, -kUp);
  const __m256i magnitude = _mm256_and_si256(shifted, _mm256_set1_epi32(0x7F << 20));
  const __m256i nan = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x7F << 20));
  const __m256i sign = _mm256_and_si256(_mm256_slli_epi32(codes, 24 - 8 * static_cast<int>(Byte)), _mm256_set1_epi32(INT32_MIN));
  const Floats normal = _mm256_castsi256_ps(_mm256_add_epi32(magnitude, _mm256_set1_epi32(120 << 23)));
  const Floats number = _mm256_min_ps(normal, fused(normal, all(2), all(-0x1p-6F)));
  return _mm256_or_ps(number, _mm256_castsi256_ps(_mm256_or_si256(sign, nan)));
}

MXACT_INLINE Floats e4m3_scales(const uint8_t* scales) {
  return decoded_byte<0>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales))));
}

/// bf16_product of weights and moderate scales.
MXACT_INLINE Floats moderate_product(Floats weight, Floats scale) {
  const Floats whole = product(weight, product(scale, all(kSplitter)));
  return _mm256_sub_ps(whole, _mm256_fnmadd_ps(weight, scale, whole));
}

}  // namespace
}  // namespace mx::kernels::moe
