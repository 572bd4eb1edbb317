#pragma once
// Rounding of upper halves of fp32 patterns with 512-bit vectors, for files that are compiled for AVX-512: everything here is private to its file.

#include <immintrin.h>

#include "kernels/codec/rounding_plan.hpp"

namespace mx::kernels {
namespace {

struct Four {
  __m512i v[4];
};

[[gnu::always_inline]] inline __m512i set16(uint16_t value) { return _mm512_set1_epi16(static_cast<short>(value)); }

/// 32 fp32 patterns to upper halves rounded to odd.
[[gnu::always_inline]] inline __m512i upper_halves(__m512i low, __m512i high) {
  const __m512i odd_words =
      _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  const __m512i even_words = _mm512_sub_epi16(odd_words, _mm512_set1_epi16(1));
  const __m512i upper = _mm512_permutex2var_epi16(low, odd_words, high);
  const __m512i lower = _mm512_permutex2var_epi16(low, even_words, high);
  return _mm512_or_si512(upper, _mm512_min_epu16(lower, _mm512_set1_epi16(1)));
}

/// 32 upper halves from element i on.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m512i load(const void* elements, size_t i) {
  if constexpr (kSource == ElementSource::bf16) {
    return _mm512_loadu_si512(static_cast<const uint16_t*>(elements) + i);
  } else if constexpr (kSource == ElementSource::f32) {
    const auto* from = static_cast<const uint32_t*>(elements) + i;
    return upper_halves(_mm512_loadu_si512(from), _mm512_loadu_si512(from + 16));
  } else {
    const auto* from = reinterpret_cast<const __m256i*>(static_cast<const uint16_t*>(elements) + i);
    return upper_halves(_mm512_castps_si512(_mm512_cvtph_ps(_mm256_loadu_si256(from))),
                        _mm512_castps_si512(_mm512_cvtph_ps(_mm256_loadu_si256(from + 1))));
  }
}

/// 16 fp32 numbers from element i on.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m512 numbers(const void* elements, size_t i) {
  if constexpr (kSource == ElementSource::f32) {
    return _mm512_loadu_ps(static_cast<const uint32_t*>(elements) + i);
  } else {
    const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(static_cast<const uint16_t*>(elements) + i));
    if constexpr (kSource == ElementSource::fp16) return _mm512_cvtph_ps(words);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(words), 16));
  }
}

/// 32 elements as fp32 numbers. Of bf16 the even ones and the odd ones, which are fp32 where they stand; else the first 16 and the last 16.
struct Two {
  __m512 v[2];
};
template <ElementSource kSource>
[[gnu::always_inline]] inline Two two_of(const void* elements, size_t i) {
  if constexpr (kSource == ElementSource::bf16) {
    const __m512i x = load<kSource>(elements, i);
    const __m512i upper = _mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U)));
    return {{_mm512_castsi512_ps(_mm512_slli_epi32(x, 16)), _mm512_castsi512_ps(upper)}};
  }
  return {{numbers<kSource>(elements, i), numbers<kSource>(elements, i + 16)}};
}

/// Upper halves, rounded to odd, of what two_of gave.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m512i upper_halves_of(const Two& two) {
  const __m512i a = _mm512_castps_si512(two.v[0]);
  const __m512i b = _mm512_castps_si512(two.v[1]);
  if constexpr (kSource != ElementSource::bf16) return upper_halves(a, b);
  const __m512i low = _mm512_set1_epi32(0xFFFF);
  const __m512i upper = _mm512_mask_mov_epi16(_mm512_srli_epi32(a, 16), 0xAAAAAAAAU, b);
  const __m512i even = _mm512_mask_or_epi32(upper, _mm512_test_epi32_mask(a, low), upper, _mm512_set1_epi32(1));
  return _mm512_mask_or_epi32(even, _mm512_test_epi32_mask(b, low), even, _mm512_set1_epi32(0x10000));
}

/// How elements are rounded, the same for every block. `normal`: where the element has all of its mantissa, its exponent counted as that of
/// `largest`; `even`: the bit that decides ties; `sign`: above a code that ends at bit 8, where a shift by `sign_shift` brings an element's.
struct Rounding {
  __m512i largest, normal, addend, even, sticky, sign;
  __m128i sign_shift;
};

[[gnu::always_inline]] inline Rounding rounding_of(const RoundingPlan& plan) {
  return {set16(plan.largest),
          set16(static_cast<uint16_t>((plan.mantissa_bits + 1) << 7)),
          set16(plan.addend),
          set16(static_cast<uint16_t>(plan.even << 8)),
          set16(plan.sticky),
          set16(static_cast<uint16_t>(1U << (plan.width + 7))),
          _mm_cvtsi32_si128(8 - plan.width)};
}

/// Upper halves with the sign of a zero set, where every zero is negative.
template <ZeroSigns kZeros>
[[gnu::always_inline]] inline __m512i with_negative_zeros(__m512i x) {
  if constexpr (kZeros != ZeroSigns::all_negative) return x;
  return _mm512_mask_mov_epi16(x, _mm512_testn_epi16_mask(x, _mm512_set1_epi16(0x7FFF)), _mm512_set1_epi16(static_cast<short>(0x8000)));
}

/// Codes of 32 elements, given the pattern of half of the smallest positive element. An element's significand of 8 bits is shifted left by its steps
/// above that, at most so many that mantissa_bits and the leading one come to stand above bit 8, where it is rounded; the binades that it has beyond
/// stand in front of it, and a carry runs into them. kWidth: of the codes, 0 where only `r` knows it; the
/// sign of 8 bits is in its place already.
template <ZeroSigns kZeros, int kWidth>
[[gnu::always_inline]] inline __m512i codes_of(__m512i x, __m512i half_unit, const Rounding& r) {
  const __m512i magnitude = _mm512_ternarylogic_epi32(x, _mm512_set1_epi16(0x7FFF), r.sticky, 0xEA);  // (x & 0x7FFF) | sticky
  const __m512i above = _mm512_min_epu16(_mm512_subs_epu16(magnitude, half_unit), r.largest);
  const __m512i low = _mm512_min_epu16(above, r.normal);
  const __m512i binades = _mm512_and_si512(low, _mm512_set1_epi16(static_cast<short>(0xFF80)));
  const __m512i number = _mm512_add_epi16(_mm512_sub_epi16(above, binades), _mm512_set1_epi16(0x80));
  const __m512i moved_up = _mm512_sllv_epi16(number, _mm512_srli_epi16(low, 7));
  const __m512i addend = _mm512_mask_add_epi16(r.addend, _mm512_test_epi16_mask(moved_up, r.even), r.addend, _mm512_set1_epi16(1));
  const __m512i rounded = _mm512_add_epi16(moved_up, addend);
  x = with_negative_zeros<kZeros>(x);
  __m512i signs = kWidth == 8 ? x : _mm512_srl_epi16(x, r.sign_shift);
  if constexpr (kZeros == ZeroSigns::dropped) {
    signs = _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(rounded, _mm512_set1_epi16(static_cast<short>(0xFF00))), signs);
  } else if constexpr (kZeros == ZeroSigns::kept_if_rounded) {
    signs = _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(x, _mm512_set1_epi16(0x7FFF)), signs);
  }
  return _mm512_srli_epi16(_mm512_ternarylogic_epi32(rounded, signs, r.sign, 0xF8), 8);  // rounded | (signs & sign)
}

/// Codes of e2m1 by a magnitude's steps above half of the smallest element: twice what stands above the lowest kBelow bits, one more where those are
/// not all zero.
struct Table {
  __m512i codes[2];
};
constexpr int kBelow = 5;

inline Table table_of(Rounding r) {
  r.sticky = _mm512_setzero_si512();  // codes_by_table sets it before it counts steps
  const __m512i numbers =
      _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i low_bit = _mm512_set1_epi16(1);
  const __m512i steps = _mm512_or_si512(_mm512_slli_epi16(_mm512_srli_epi16(numbers, 1), kBelow), _mm512_and_si512(numbers, low_bit));
  const auto codes = [&](uint16_t first) { return codes_of<ZeroSigns::kept, 4>(_mm512_add_epi16(steps, set16(first)), _mm512_setzero_si512(), r); };
  return {{codes(0), codes(16 << kBelow)}};
}

/// codes_of of e2m1, by its table.
template <ZeroSigns kZeros>
[[gnu::always_inline]] inline __m512i codes_by_table(__m512i x, __m512i half_unit, const Rounding& r, const Table& table) {
  const __m512i magnitude = _mm512_ternarylogic_epi32(x, _mm512_set1_epi16(0x7FFF), r.sticky, 0xEA);
  const __m512i above = _mm512_min_epu16(_mm512_subs_epu16(magnitude, half_unit), r.largest);
  const __m512i up = _mm512_srli_epi16(_mm512_add_epi16(above, _mm512_set1_epi16((1 << kBelow) - 1)), kBelow);
  const __m512i index = _mm512_add_epi16(_mm512_srli_epi16(above, kBelow), up);
  const __m512i code = _mm512_permutex2var_epi16(table.codes[0], index, table.codes[1]);
  const __m512i moved = _mm512_srli_epi16(with_negative_zeros<kZeros>(x), 12);
  const __m512i sign = _mm512_set1_epi16(8);
  if constexpr (kZeros == ZeroSigns::kept || kZeros == ZeroSigns::all_negative) return _mm512_ternarylogic_epi32(code, moved, sign, 0xF8);
  const __mmask32 has_sign = kZeros == ZeroSigns::dropped ? _mm512_test_epi16_mask(code, code) : _mm512_test_epi16_mask(x, _mm512_set1_epi16(0x7FFF));
  return _mm512_ternarylogic_epi32(code, _mm512_maskz_mov_epi16(has_sign, moved), sign, 0xF8);
}

/// 128 codes of 4 bits to 64 bytes.
[[gnu::always_inline]] inline __m512i nibbles(const Four& codes) {
  const __m512i places = _mm512_set1_epi32(16 << 16 | 1);
  Four pairs;
  for (int i = 0; i < 4; ++i) pairs.v[i] = _mm512_madd_epi16(codes.v[i], places);
  const __m512i words = _mm512_packus_epi16(_mm512_packus_epi32(pairs.v[0], pairs.v[1]), _mm512_packus_epi32(pairs.v[2], pairs.v[3]));
  return _mm512_permutexvar_epi32(_mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0), words);
}

/// 64 codes to 64 bytes.
[[gnu::always_inline]] inline __m512i bytes(__m512i low, __m512i high) {
  return _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), _mm512_packus_epi16(low, high));
}

}  // namespace
}  // namespace mx::kernels
