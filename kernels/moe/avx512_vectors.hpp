#pragma once
// Vectors of 16 floats, for the kernels of bf16 by fused multiply-adds (fma_lanes.hpp).

#include "kernels/moe/avx512_lanes.hpp"
#include "kernels/moe/bf16_product.hpp"
#include "kernels/moe/x86_flushing.hpp"

namespace mx::kernels::moe {
namespace {

using Floats = __m512;
using Dwords = __m512i;
constexpr size_t kWidth = 16;

MXACT_INLINE Floats zeros() { return _mm512_setzero_ps(); }
MXACT_INLINE Floats all(float x) { return _mm512_set1_ps(x); }
MXACT_INLINE Floats all_of(const float* from) { return _mm512_set1_ps(*from); }
MXACT_INLINE Floats load(const float* from) { return _mm512_loadu_ps(from); }
MXACT_INLINE void store(float* to, Floats x) { _mm512_storeu_ps(to, x); }
MXACT_INLINE Floats sum(Floats a, Floats b) { return _mm512_add_ps(a, b); }
MXACT_INLINE Floats product(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
MXACT_INLINE Floats fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
/// To a sum that stays in its register: compilers otherwise move sums from one to another.
MXACT_INLINE void add_product(Floats& sum, Floats a, Floats b) { __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b)); }
/// A value's products with both vectors of columns.
MXACT_INLINE void add_products(Floats (&sums)[2], const float* value, Floats low, Floats high) {
  const Floats values = all_of(value);
  add_product(sums[0], values, low);
  add_product(sums[1], values, high);
}
MXACT_INLINE Dwords load_dwords(const uint8_t* from) { return _mm512_load_si512(from); }

/// Scale bytes in the fields of exponents, and 2 to the difference of two.
MXACT_INLINE Dwords scale_fields(const uint8_t* scales) { return exponent_field(scales); }
MXACT_INLINE Dwords unit_field() { return _mm512_set1_epi32(0x3F800000); }
MXACT_INLINE Floats power_between(Dwords from, Dwords to) { return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_sub_epi32(from, to), unit_field())); }

/// Every NaN as the same.
MXACT_INLINE Floats one_nan(Floats x) {
  return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000)));
}

/// Numbers of a nibble of each dword, by a table (fma_decode.hpp). VPERMPS reads four bits; an even nibble comes to its place by the load
/// (aligned.hpp has room for its last bytes).
template <size_t Nibble>
MXACT_INLINE Floats nibble_at(const uint8_t* dwords, const float* table) {
  const __m512i codes =
      Nibble % 2 == 0 ? _mm512_loadu_si512(dwords + Nibble / 2) : _mm512_srli_epi32(_mm512_load_si512(dwords), static_cast<unsigned>(4 * Nibble));
  return _mm512_permutexvar_ps(codes, _mm512_load_ps(table));
}

/// The e4m3 codes in bytes `Byte` of the dwords: where there is VBMI (avx512_vbmi_vectors.hpp).
template <size_t Byte>
Floats decoded_byte(Dwords codes);

MXACT_INLINE Floats e4m3_scales(const uint8_t* scales) { return e4m3_values(scales); }

/// bf16_product of weights and moderate scales.
MXACT_INLINE Floats moderate_product(Floats weight, Floats scale) {
  const Floats whole = product(weight, product(scale, all(kSplitter)));
  return _mm512_sub_ps(whole, _mm512_fnmadd_ps(weight, scale, whole));
}

}  // namespace
}  // namespace mx::kernels::moe
