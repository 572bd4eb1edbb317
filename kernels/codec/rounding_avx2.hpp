#pragma once
// Rounding of upper halves of fp32 patterns with 256-bit vectors, for files that are compiled for AVX2: everything here is private to its file.
// Powers of two from a table in a register stand in for the variable shifts of words that AVX2 lacks.

#include <immintrin.h>

#include "kernels/codec/rounding_plan.hpp"

namespace mx::kernels {
namespace {

[[gnu::always_inline]] inline __m256i set16(uint32_t value) { return _mm256_set1_epi16(static_cast<short>(value)); }

[[gnu::always_inline]] inline __m256i upper_half(__m256i f32) {
  const __m256i exact = _mm256_cmpeq_epi32(_mm256_and_si256(f32, _mm256_set1_epi32(0xFFFF)), _mm256_setzero_si256());
  return _mm256_or_si256(_mm256_srli_epi32(f32, 16), _mm256_andnot_si256(exact, _mm256_set1_epi32(1)));
}

/// 16 fp32 patterns to upper halves rounded to odd.
[[gnu::always_inline]] inline __m256i upper_halves(__m256i low, __m256i high) {
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(upper_half(low), upper_half(high)), 0xD8);
}

template <ElementSource kSource>
[[gnu::always_inline]] inline __m256i load(const void* elements, size_t i) {
  if constexpr (kSource == ElementSource::bf16) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(static_cast<const uint16_t*>(elements) + i));
  } else if constexpr (kSource == ElementSource::f32) {
    const auto* from = reinterpret_cast<const __m256i*>(static_cast<const uint32_t*>(elements) + i);
    return upper_halves(_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1));
  } else {
    const auto* from = reinterpret_cast<const __m128i*>(static_cast<const uint16_t*>(elements) + i);
    return upper_halves(_mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128(from))), _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128(from + 1))));
  }
}

/// How elements are rounded, the same for every block.
struct Rounding {
  __m256i largest, steps_below, addend, even, sticky, sign;
  __m128i mantissa_bits, sign_shift;
};

[[gnu::always_inline]] inline Rounding rounding_of(const RoundingPlan& plan) {
  return {set16(plan.largest),
          set16(plan.mantissa_bits + 1U),
          set16(plan.addend),
          set16(plan.even),
          set16(plan.sticky),
          set16(1U << (plan.width - 1)),
          _mm_cvtsi32_si128(plan.mantissa_bits),
          _mm_cvtsi32_si128(16 - plan.width)};
}

/// 2^n in every word, n below 6.
[[gnu::always_inline]] inline __m256i power_of_two(__m256i n) {
  const __m256i powers = _mm256_broadcastsi128_si256(_mm_set_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 16, 8, 4, 2, 1));
  return _mm256_shuffle_epi8(powers, _mm256_or_si256(n, set16(0x8000)));
}

/// Codes of 16 elements, as with 512 bits.
template <ZeroSigns kZeros>
[[gnu::always_inline]] inline __m256i codes_of(__m256i x, __m256i half_unit, const Rounding& r) {
  const __m256i positive = _mm256_and_si256(x, set16(0x7FFF));
  const __m256i magnitude = _mm256_or_si256(positive, r.sticky);
  const __m256i above = _mm256_min_epu16(_mm256_subs_epu16(magnitude, half_unit), r.largest);
  const __m256i steps = _mm256_srli_epi16(above, 7);
  const __m256i low_steps = _mm256_min_epu16(steps, r.steps_below);
  const __m256i significand = _mm256_or_si256(_mm256_and_si256(above, set16(0x7F)), set16(0x80));
  const __m256i moved_up = _mm256_mullo_epi16(significand, power_of_two(low_steps));
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi16(moved_up, 8), r.even);
  const __m256i rounded = _mm256_srli_epi16(_mm256_add_epi16(_mm256_add_epi16(moved_up, r.addend), odd), 8);
  const __m256i code = _mm256_add_epi16(rounded, _mm256_sll_epi16(_mm256_sub_epi16(steps, low_steps), r.mantissa_bits));
  if constexpr (kZeros == ZeroSigns::all_negative) {
    x = _mm256_or_si256(x, _mm256_cmpeq_epi16(positive, _mm256_setzero_si256()));
  }
  const __m256i sign = _mm256_and_si256(_mm256_srl_epi16(x, r.sign_shift), r.sign);
  if constexpr (kZeros == ZeroSigns::kept || kZeros == ZeroSigns::all_negative) return _mm256_or_si256(code, sign);
  const __m256i signless = _mm256_cmpeq_epi16(kZeros == ZeroSigns::dropped ? code : positive, _mm256_setzero_si256());
  return _mm256_or_si256(code, _mm256_andnot_si256(signless, sign));
}

[[gnu::always_inline]] inline __m256i pairs(__m256i codes) {
  return _mm256_and_si256(_mm256_or_si256(codes, _mm256_srli_epi32(codes, 12)), _mm256_set1_epi32(0xFF));
}

/// 64 codes of 4 bits to 32 bytes.
[[gnu::always_inline]] inline __m256i nibbles(const __m256i* codes) {
  const __m256i low = _mm256_packus_epi32(pairs(codes[0]), pairs(codes[1]));
  const __m256i high = _mm256_packus_epi32(pairs(codes[2]), pairs(codes[3]));
  return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}

/// 32 codes to 32 bytes.
[[gnu::always_inline]] inline __m256i bytes(__m256i low, __m256i high) { return _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8); }

}  // namespace
}  // namespace mx::kernels
