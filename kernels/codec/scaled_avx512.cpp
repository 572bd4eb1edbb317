// Elements under any fp32 factor with 512-bit vectors: one IEEE operation in fp32 lanes, then rounding in 16-bit lanes.

#include <immintrin.h>

#include "kernels/codec/maxima_avx512.hpp"
#include "kernels/codec/rounding_avx512.hpp"
#include "kernels/codec/scaled_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kStep = 128;             // elements of one step
constexpr size_t kUnit = 32;              // elements of a vector of 16-bit lanes
constexpr size_t kUnits = kStep / kUnit;  // per step
constexpr size_t kHalf = kUnit / 2;       // elements of a half, which may have a factor of its own

constexpr size_t word_bytes(ElementSource source) { return source == ElementSource::f32 ? 4 : 2; }

template <ElementSource kSource>
const void* element(const void* elements, size_t i) {
  return static_cast<const uint8_t*>(elements) + i * word_bytes(kSource);
}

uint32_t largest_f32(const uint32_t* elements, size_t length) {
  constexpr size_t kVector = 16;
  const __m512i all = _mm512_set1_epi32(0x7FFFFFFF);
  __m512i amax = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + kVector <= length; i += kVector) amax = _mm512_max_epu32(amax, _mm512_and_si512(_mm512_loadu_si512(elements + i), all));
  if (i != length) {
    const auto there = static_cast<__mmask16>((1U << (length - i)) - 1U);
    amax = _mm512_max_epu32(amax, _mm512_and_si512(_mm512_maskz_loadu_epi32(there, elements + i), all));
  }
  return _mm512_reduce_max_epu32(amax);
}

/// The largest magnitude of words of 16 bits, as it is: in the order of their patterns a NaN is above infinity.
uint32_t largest_word(const uint16_t* elements, size_t length) {
  const __m512i all = _mm512_set1_epi16(0x7FFF);
  __m512i whole = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + kUnit <= length; i += kUnit) whole = _mm512_max_epu16(whole, _mm512_and_si512(_mm512_loadu_si512(elements + i), all));
  if (i != length) {
    const __mmask32 there = (1U << (length - i)) - 1U;
    whole = _mm512_max_epu16(whole, _mm512_and_si512(_mm512_maskz_loadu_epi16(there, elements + i), all));
  }
  const __m256i half = _mm256_max_epu16(_mm512_castsi512_si256(whole), _mm512_extracti64x4_epi64(whole, 1));
  const __m128i quarter = _mm_max_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  // There is an instruction for the smallest word alone.
  const __m128i least = _mm_minpos_epu16(_mm_xor_si128(quarter, _mm_set1_epi16(-1)));
  return (static_cast<uint32_t>(_mm_cvtsi128_si32(least)) & 0xFFFFU) ^ 0xFFFFU;
}

template <ElementSource kSource>
uint32_t largest_of(const void* elements, size_t length) {
  if constexpr (kSource == ElementSource::f32) return largest_f32(static_cast<const uint32_t*>(elements), length);
  const uint32_t word = largest_word(static_cast<const uint16_t*>(elements), length);
  if constexpr (kSource == ElementSource::bf16) return word << 16;
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_castps_si128(_mm_cvtph_ps(_mm_cvtsi32_si128(static_cast<int>(word))))));
}

[[gnu::always_inline]] inline __m512i magnitudes(__m512 x) { return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7FFFFFFF)); }

/// Largest magnitudes of 16 groups of 16 or 32 elements.
template <ElementSource kSource, size_t kLength>
[[gnu::always_inline]] inline __m512i largest_of_short(const void* elements) {
  constexpr bool kWords = kSource != ElementSource::f32 && kLength == kUnit;
  __m512i x[16];
  for (size_t g = 0; g < 16; ++g) {
    if constexpr (kWords) {  // compared in the upper halves of lanes, which order as words do
      const __m512i words = _mm512_and_si512(_mm512_loadu_si512(element<kSource>(elements, g * kUnit)), _mm512_set1_epi16(0x7FFF));
      x[g] = _mm512_max_epu32(_mm512_slli_epi32(words, 16), words);
    } else {
      x[g] = magnitudes(numbers<kSource>(elements, g * kLength));
      if constexpr (kLength == kUnit) x[g] = _mm512_max_epu32(x[g], magnitudes(numbers<kSource>(elements, g * kLength + 16)));
    }
  }
  const __m512i amax = largest_lanes(x);
  if constexpr (!kWords) return amax;
  if constexpr (kSource == ElementSource::bf16) return _mm512_and_si512(amax, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U)));
  return _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(amax, 16))));
}

template <ElementSource kSource>
void largest(const void* elements, size_t groups, size_t length, uint32_t* amax) {
  size_t g = 0;
  for (; length == kUnit && g + 16 <= groups; g += 16) {
    _mm512_storeu_si512(amax + g, largest_of_short<kSource, kUnit>(element<kSource>(elements, g * length)));
  }
  for (; length == kHalf && g + 16 <= groups; g += 16) {
    _mm512_storeu_si512(amax + g, largest_of_short<kSource, kHalf>(element<kSource>(elements, g * length)));
  }
  for (; g < groups; ++g) amax[g] = largest_of<kSource>(element<kSource>(elements, g * length), length);
}

/// What is the same for every group.
struct Constants {
  Rounding rounding;
  Table table;  ///< of codes of four bits
  __m512i half_unit;
  __m512 before, behind, units;
  __mmask16 up, away, even;  // for counts of units: whether anything goes up, and which ties
  bool multiplies_before, divides, narrows, multiplies_behind, doubts, counts, counts_evenly, nibbles;
};

[[gnu::always_inline]] inline Constants constants_of(const ScaledPlan& plan) {
  const auto all = [](uint32_t on) { return static_cast<__mmask16>(on != 0 ? 0xFFFF : 0); };
  const RoundingPlan& r = plan.rounding;
  const bool steps_alone = plan.before == 1.0F && plan.narrows == 0 && plan.behind == 1.0F && plan.doubts == 0;
  Constants c;
  c.rounding = rounding_of(r);
  if (r.width == 4) c.table = table_of(c.rounding);
  c.half_unit = set16(plan.half_unit);
  c.before = _mm512_set1_ps(plan.before);
  c.behind = _mm512_set1_ps(plan.behind);
  c.units = _mm512_set1_ps(plan.units);
  c.up = all(r.addend);
  c.away = all(r.sticky);
  c.even = all(r.even);
  c.multiplies_before = plan.before != 1.0F;
  c.divides = plan.divides != 0;
  c.narrows = plan.narrows != 0;
  c.multiplies_behind = plan.behind != 1.0F;
  c.doubts = plan.doubts != 0;
  c.counts = plan.units != 0;
  c.counts_evenly = c.counts && steps_alone && r.addend != 0 && r.even != 0 && r.sticky == 0;
  c.nibbles = r.width == 4;
  return c;
}

/// Finite numbers as the source's type holds them.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m512 narrow(__m512 x) {
  if constexpr (kSource == ElementSource::fp16) {
    return _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  } else if constexpr (kSource == ElementSource::bf16) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
    return _mm512_castsi512_ps(_mm512_and_si512(up, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U))));
  }
  return x;
}

/// The factors of the units of one step: of the two vectors of each.
struct Factors {
  __m512 v[kUnits][2];
};

/// Counts of 16 fp32 numbers in words of 32 bits.
[[gnu::always_inline]] inline __m512i counted(__m512 x, const Constants& c) {
  const __m512 count = _mm512_min_ps(_mm512_mul_ps(_mm512_abs_ps(x), c.units), _mm512_set1_ps(127.0F));
  const __m512i whole = _mm512_cvttps_epi32(count);
  const __m512 rest = _mm512_sub_ps(count, _mm512_cvtepi32_ps(whole));
  const __m512 half = _mm512_set1_ps(0.5F);
  const __mmask16 above = _mm512_cmp_ps_mask(rest, half, _CMP_GT_OQ);
  const __mmask16 tie = _mm512_cmp_ps_mask(rest, half, _CMP_EQ_OQ);
  const __mmask16 odd = _mm512_test_epi32_mask(whole, _mm512_set1_epi32(1));
  const __mmask16 up = c.up & (above | (tie & (c.away | (c.even & odd))));
  const __m512i code = _mm512_mask_add_epi32(whole, up, whole, _mm512_set1_epi32(1));
  return _mm512_mask_sub_epi32(code, _mm512_movepi32_mask(_mm512_castps_si512(x)), _mm512_setzero_si512(), code);
}

/// Words of 16 bits from two vectors of 32, in the order of two_of.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m512i narrowed(__m512i a, __m512i b) {
  if constexpr (kSource == ElementSource::bf16) return _mm512_mask_mov_epi16(a, 0xAAAAAAAAU, _mm512_slli_epi32(b, 16));
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(a)), _mm512_cvtepi32_epi16(b), 1);
}

/// A magnitude just below a power of two.
[[gnu::always_inline]] inline __mmask16 doubtful(__m512 x) {
  const __m512i top = _mm512_set1_epi32(0x007FFFC0);
  return _mm512_cmpeq_epi32_mask(_mm512_and_si512(_mm512_castps_si512(x), top), top);
}

/// Counts of 64 elements that go to the nearest unit, ties to the even one, as the processor rounds by itself.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m512i counts_of(const void* elements, size_t i, const __m512 (*factors)[2], const Constants& c) {
  const __m512 most = _mm512_set1_ps(127.0F);
  const __m512 least = _mm512_set1_ps(-127.0F);
  __m512i count[4];
  for (size_t j = 0; j < 4; ++j) {
    const __m512 x = numbers<kSource>(elements, i + 16 * j);
    const __m512 units = _mm512_mul_ps(c.divides ? _mm512_div_ps(x, factors[j / 2][j % 2]) : _mm512_mul_ps(x, factors[j / 2][j % 2]), c.units);
    const __m512 within = _mm512_max_ps(_mm512_min_ps(units, most), least);
    count[j] = _mm512_cvt_roundps_epi32(within, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  const __m512i words = _mm512_packs_epi16(_mm512_packs_epi32(count[0], count[1]), _mm512_packs_epi32(count[2], count[3]));
  return _mm512_permutexvar_epi32(_mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0), words);
}

/// 16 elements under the factor.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m512 scaled(__m512 x, __m512 factor, const Constants& c) {
  if (c.multiplies_before) x = _mm512_mul_ps(x, c.before);
  x = c.divides ? _mm512_div_ps(x, factor) : _mm512_mul_ps(x, factor);
  if (c.narrows) x = narrow<kSource>(x);
  return c.multiplies_behind ? _mm512_mul_ps(x, c.behind) : x;
}

/// Codes of 128 elements from i on; bit j for a doubtful one in unit j.
template <ElementSource kSource, ZeroSigns kZeros>
[[gnu::always_inline]] inline uint32_t step(const void* elements, size_t i, const Factors& factors, const Constants& c, uint8_t* codes) {
  if (c.counts_evenly) {
    _mm512_storeu_si512(codes, counts_of<kSource>(elements, i, factors.v, c));
    _mm512_storeu_si512(codes + 64, counts_of<kSource>(elements, i + 64, factors.v + 2, c));
    return 0;
  }
  Four coded;
  uint32_t doubts = 0;
  for (size_t j = 0; j < kUnits; ++j) {
    Two x = two_of<kSource>(elements, i + kUnit * j);
    for (size_t k = 0; k < 2; ++k) {
      x.v[k] = scaled<kSource>(x.v[k], factors.v[j][k], c);
      if (c.doubts) doubts |= doubtful(x.v[k]) != 0 ? 1U << j : 0U;
    }
    if (c.counts) {
      coded.v[j] = narrowed<kSource>(counted(x.v[0], c), counted(x.v[1], c));
    } else if (c.nibbles) {
      coded.v[j] = codes_by_table<kZeros>(upper_halves_of<kSource>(x), c.half_unit, c.rounding, c.table);
    } else {
      coded.v[j] = codes_of<kZeros, 0>(upper_halves_of<kSource>(x), c.half_unit, c.rounding);
    }
  }
  if (c.counts) {
    for (__m512i& words : coded.v) words = _mm512_and_si512(words, _mm512_set1_epi16(0xFF));
  }
  if (c.nibbles) {
    _mm512_storeu_si512(codes, nibbles(coded));
  } else {
    _mm512_storeu_si512(codes, bytes(coded.v[0], coded.v[1]));
    _mm512_storeu_si512(codes + 64, bytes(coded.v[2], coded.v[3]));
  }
  return doubts;
}

/// The same for at most 128 elements.
template <ElementSource kSource, ZeroSigns kZeros>
uint32_t last_step(const void* elements, size_t i, size_t count, const Factors& factors, const Constants& c, uint8_t* codes) {
  alignas(64) uint8_t rest[kStep * word_bytes(kSource)] = {};
  alignas(64) uint8_t rest_codes[kStep];
  __builtin_memcpy(rest, element<kSource>(elements, i), count * word_bytes(kSource));
  const uint32_t doubts = step<kSource, kZeros>(rest, 0, factors, c, rest_codes);
  __builtin_memcpy(codes, rest_codes, c.nibbles ? count / 2 : count);
  return doubts;
}

[[gnu::always_inline]] inline __m512 all_lanes(uint32_t f32) { return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(f32))); }

/// Factors of a step from group g on, of `count` groups; those behind them have that of the first one.
template <ElementSource kSource>
[[gnu::always_inline]] inline Factors factors_of(const uint32_t* group_factors, size_t count, size_t length) {
  Factors factors;
  for (size_t j = 0; j < kUnits; ++j) {
    if (length == kUnit) {
      factors.v[j][0] = factors.v[j][1] = all_lanes(group_factors[j < count ? j : 0]);
      continue;
    }
    factors.v[j][0] = all_lanes(group_factors[2 * j < count ? 2 * j : 0]);
    factors.v[j][1] = all_lanes(group_factors[2 * j + 1 < count ? 2 * j + 1 : 0]);
    // Both vectors have elements of both groups.
    if constexpr (kSource == ElementSource::bf16) {
      factors.v[j][0] = factors.v[j][1] = _mm512_mask_mov_ps(factors.v[j][0], 0xFF00, factors.v[j][1]);
    }
  }
  return factors;
}

/// Groups of one unit or half of one each: four or eight to a step.
template <ElementSource kSource, ZeroSigns kZeros>
void run_units(const void* elements, size_t groups, size_t length, const uint32_t* group_factors, const Constants& c, uint8_t* codes,
               uint64_t* irregular) {
  const size_t code_bytes = c.nibbles ? length / 2 : length;
  const size_t together = kStep / length;
  for (size_t g = 0; g < groups; g += together) {
    const size_t count = groups - g < together ? groups - g : together;
    const Factors factors = factors_of<kSource>(group_factors + g, count, length);
    const uint32_t doubts = count == together ? step<kSource, kZeros>(elements, g * length, factors, c, codes + g * code_bytes)
                                              : last_step<kSource, kZeros>(elements, g * length, count * length, factors, c, codes + g * code_bytes);
    if (__builtin_expect(doubts == 0, 1)) continue;
    for (size_t j = 0; j < count; ++j) {
      if ((doubts >> (j * length / kUnit) & 1U) != 0) irregular[(g + j) / 64] |= uint64_t{1} << ((g + j) % 64);
    }
  }
}

template <ElementSource kSource, ZeroSigns kZeros>
void run(const ScaledPlan& plan, const void* elements, size_t groups, size_t length, const uint32_t* group_factors, uint8_t* codes,
         uint64_t* irregular) {
  const Constants c = constants_of(plan);
  if (length == kUnit || length == kHalf) return run_units<kSource, kZeros>(elements, groups, length, group_factors, c, codes, irregular);
  for (size_t g = 0; g < groups; ++g) {
    Factors factors;
    for (auto& unit : factors.v) unit[0] = unit[1] = all_lanes(group_factors[g]);
    const size_t first = g * length;
    const size_t whole = first + length / kStep * kStep;
    uint32_t doubts = 0;
    for (size_t i = first; i < whole; i += kStep) doubts |= step<kSource, kZeros>(elements, i, factors, c, codes + (c.nibbles ? i / 2 : i));
    if (whole != first + length) {
      doubts |= last_step<kSource, kZeros>(elements, whole, first + length - whole, factors, c, codes + (c.nibbles ? whole / 2 : whole));
    }
    if (doubts != 0) irregular[g / 64] |= uint64_t{1} << (g % 64);
  }
}

template <ElementSource kSource>
ScaledEncode* chosen(const ScaledPlan& plan) {
  if (plan.rounding.zeros == ZeroSigns::kept) return run<kSource, ZeroSigns::kept>;
  if (plan.rounding.zeros == ZeroSigns::dropped) return run<kSource, ZeroSigns::dropped>;
  return plan.rounding.zeros == ZeroSigns::all_negative ? run<kSource, ZeroSigns::all_negative> : run<kSource, ZeroSigns::kept_if_rounded>;
}

}  // namespace

void largest_magnitudes_avx512(ElementSource source, const void* elements, size_t groups, size_t length, uint32_t* amax) {
  if (source == ElementSource::f32) return largest<ElementSource::f32>(elements, groups, length, amax);
  if (source == ElementSource::bf16) return largest<ElementSource::bf16>(elements, groups, length, amax);
  largest<ElementSource::fp16>(elements, groups, length, amax);
}

void scaled_encode_avx512(const ScaledPlan& plan, const void* elements, size_t groups, size_t length, const uint32_t* factors, uint8_t* codes,
                          uint64_t* irregular) {
  ScaledEncode* const by_source[] = {chosen<ElementSource::f32>(plan), chosen<ElementSource::bf16>(plan), chosen<ElementSource::fp16>(plan)};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, groups, length, factors, codes, irregular);
}

}  // namespace mx::kernels
