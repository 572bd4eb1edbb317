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

/// Asks for what lies a chunk behind these elements, to come to the cache of that level.
template <ElementSource kSource, size_t kCount, int kLevel>
[[gnu::always_inline]] inline void ask_behind(const void* elements) {
  const auto* const from = static_cast<const uint8_t*>(elements) + kLevel * kScaledChunk * word_bytes(kSource);
  for (size_t line = 0; line < kCount * word_bytes(kSource); line += 64) __builtin_prefetch(from + line, 0, 4 - kLevel);
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
  __m512 nearly_half;  ///< added to counts of units whose ties go away from zero, else 0
  bool multiplies_before, divides, narrows, multiplies_behind, doubts, counts, ties_to_even, nibbles, streams;
};

[[gnu::always_inline]] inline Constants constants_of(const ScaledPlan& plan) {
  const RoundingPlan& r = plan.rounding;
  Constants c;
  c.rounding = rounding_of(r);
  if (r.width == 4) c.table = table_of(c.rounding);
  c.half_unit = set16(plan.half_unit);
  c.before = _mm512_set1_ps(plan.before);
  c.behind = _mm512_set1_ps(plan.behind);
  c.units = _mm512_set1_ps(plan.units);
  c.nearly_half = _mm512_set1_ps(r.sticky != 0 ? 0x1.FFFFFEp-2F : 0.0F);
  c.multiplies_before = plan.before != 1.0F;
  c.divides = plan.divides != 0;
  c.narrows = plan.narrows != 0;
  c.multiplies_behind = plan.behind != 1.0F;
  c.doubts = plan.doubts != 0;
  c.counts = plan.units != 0;
  c.ties_to_even = r.addend != 0 && r.sticky == 0;
  c.nibbles = r.width == 4;
  c.streams = plan.streams != 0;
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

/// 128 elements, 32 in each pair of vectors.
struct Eight {
  Two of[kUnits];
};

template <class Change>
[[gnu::always_inline]] inline void change_all(Eight& x, const Change& change) {
  for (size_t j = 0; j < kUnits; ++j) {
    for (size_t k = 0; k < 2; ++k) x.of[j].v[k] = change(x.of[j].v[k], j, k);
  }
}

/// The elements of a step, as they are before they become codes.
template <ElementSource kSource>
[[gnu::always_inline]] inline Eight scaled(const void* elements, size_t i, const Factors& factors, const Constants& c) {
  Eight x;
  for (size_t j = 0; j < kUnits; ++j) x.of[j] = two_of<kSource>(elements, i + kUnit * j);
  if (c.multiplies_before) change_all(x, [&](__m512 v, size_t, size_t) { return _mm512_mul_ps(v, c.before); });
  if (c.divides) {
    change_all(x, [&](__m512 v, size_t j, size_t k) { return _mm512_div_ps(v, factors.v[j][k]); });
  } else {
    change_all(x, [&](__m512 v, size_t j, size_t k) { return _mm512_mul_ps(v, factors.v[j][k]); });
  }
  if (c.narrows) change_all(x, [&](__m512 v, size_t, size_t) { return narrow<kSource>(v); });
  if (c.multiplies_behind) change_all(x, [&](__m512 v, size_t, size_t) { return _mm512_mul_ps(v, c.behind); });
  return x;
}

/// Zero where a number is just below a power of two.
[[gnu::always_inline]] inline __m512i below_power(__m512 x) { return _mm512_andnot_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x007FFFC0)); }

/// Bit j for a doubtful number, which is just below a power of two, in unit j.
[[gnu::always_inline]] inline uint32_t doubts_of(const Eight& x) {
  __m512i least[kUnits];
  for (size_t j = 0; j < kUnits; ++j) least[j] = _mm512_min_epu32(below_power(x.of[j].v[0]), below_power(x.of[j].v[1]));
  const __m512i all = _mm512_min_epu32(_mm512_min_epu32(least[0], least[1]), _mm512_min_epu32(least[2], least[3]));
  if (__builtin_expect(_mm512_testn_epi32_mask(all, all) == 0, 1)) return 0;
  uint32_t doubts = 0;
  for (size_t j = 0; j < kUnits; ++j) doubts |= _mm512_testn_epi32_mask(least[j], least[j]) != 0 ? 1U << j : 0U;
  return doubts;
}

/// Counts of units in the low bytes of words. Nearly half a unit is added to magnitudes where ties go away from zero: the sum is a whole number, or
/// rounds to one, from half a unit on and not below.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m512i counted(const Two& x, const Constants& c) {
  const __m512 most = _mm512_set1_ps(127.0F);
  const __m512 sign = _mm512_set1_ps(-0.0F);
  __m512i whole[2];
  for (size_t k = 0; k < 2; ++k) {
    const __m512 units = _mm512_mul_ps(x.v[k], c.units);
    const __m512 within = _mm512_max_ps(_mm512_min_ps(units, most), _mm512_or_ps(most, sign));
    const __m512 moved = _mm512_add_ps(within, _mm512_or_ps(c.nearly_half, _mm512_and_ps(within, sign)));
    whole[k] = c.ties_to_even ? _mm512_cvt_roundps_epi32(within, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC) : _mm512_cvttps_epi32(moved);
  }
  const __m512i low = _mm512_set1_epi16(0xFF);
  if constexpr (kSource == ElementSource::bf16) {
    return _mm512_and_si512(_mm512_mask_mov_epi16(whole[0], 0xAAAAAAAAU, _mm512_slli_epi32(whole[1], 16)), low);
  }
  const __m256i upper = _mm512_cvtepi32_epi16(whole[1]);
  return _mm512_and_si512(_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(whole[0])), upper, 1), low);
}

[[gnu::always_inline]] inline void store(uint8_t* to, __m512i value, const Constants& c) {
  if (c.streams) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), value);
  } else {
    _mm512_storeu_si512(to, value);
  }
}

/// Codes of 128 elements from i on; bit j for a doubtful one in unit j.
template <ElementSource kSource, ZeroSigns kZeros>
[[gnu::always_inline]] inline uint32_t step(const void* elements, size_t i, const Factors& factors, const Constants& c, uint8_t* codes) {
  ask_behind<kSource, kStep, 1>(element<kSource>(elements, i));
  ask_behind<kSource, kStep, 2>(element<kSource>(elements, i));
  const Eight x = scaled<kSource>(elements, i, factors, c);
  const uint32_t doubts = c.doubts ? doubts_of(x) : 0U;
  Four coded;
  if (c.counts) {
    for (size_t j = 0; j < kUnits; ++j) coded.v[j] = counted<kSource>(x.of[j], c);
  } else if (c.nibbles) {
    for (size_t j = 0; j < kUnits; ++j) coded.v[j] = codes_by_table<kZeros>(upper_halves_of<kSource>(x.of[j]), c.half_unit, c.rounding, c.table);
  } else {
    for (size_t j = 0; j < kUnits; ++j) coded.v[j] = codes_of<kZeros, 0>(upper_halves_of<kSource>(x.of[j]), c.half_unit, c.rounding);
  }
  if (c.nibbles) {
    store(codes, nibbles(coded), c);
  } else {
    store(codes, bytes(coded.v[0], coded.v[1]), c);
    store(codes + 64, bytes(coded.v[2], coded.v[3]), c);
  }
  return doubts;
}

/// The same for at most 128 elements.
template <ElementSource kSource, ZeroSigns kZeros>
uint32_t last_step(const void* elements, size_t i, size_t count, const Factors& factors, const Constants& c, uint8_t* codes) {
  alignas(64) uint8_t rest[kStep * word_bytes(kSource)] = {};
  alignas(64) uint8_t rest_codes[kStep];
  __builtin_memcpy(rest, element<kSource>(elements, i), count * word_bytes(kSource));
  Constants cached = c;
  cached.streams = false;
  const uint32_t doubts = step<kSource, kZeros>(rest, 0, factors, cached, rest_codes);
  __builtin_memcpy(codes, rest_codes, c.nibbles ? count / 2 : count);
  return doubts;
}

[[gnu::always_inline]] inline __m512 all_lanes(uint32_t f32) { return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(f32))); }

/// Factors of a step from group g on, of `count` groups; those behind them have that of the first one.
template <ElementSource kSource, size_t kLength>
[[gnu::always_inline]] inline Factors factors_of(const uint32_t* group_factors, size_t count) {
  Factors factors;
  for (size_t j = 0; j < kUnits; ++j) {
    if constexpr (kLength == kUnit) {
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
template <ElementSource kSource, ZeroSigns kZeros, size_t kLength>
void run_units(const void* elements, size_t groups, const uint32_t* group_factors, const Constants& c, uint8_t* codes, uint64_t* irregular) {
  constexpr size_t kTogether = kStep / kLength;
  const size_t code_bytes = c.nibbles ? kLength / 2 : kLength;
  const auto note = [&](size_t g, size_t count, uint32_t doubts) {
    for (size_t j = 0; j < count; ++j) {
      if ((doubts >> (j * kLength / kUnit) & 1U) != 0) irregular[(g + j) / 64] |= uint64_t{1} << ((g + j) % 64);
    }
  };
  size_t g = 0;
  for (; g + kTogether <= groups; g += kTogether) {
    const Factors factors = factors_of<kSource, kLength>(group_factors + g, kTogether);
    const uint32_t doubts = step<kSource, kZeros>(elements, g * kLength, factors, c, codes + g * code_bytes);
    if (__builtin_expect(doubts != 0, 0)) note(g, kTogether, doubts);
  }
  if (g == groups) return;
  const size_t count = groups - g;
  const Factors factors = factors_of<kSource, kLength>(group_factors + g, count);
  note(g, count, last_step<kSource, kZeros>(elements, g * kLength, count * kLength, factors, c, codes + g * code_bytes));
}

template <ElementSource kSource, ZeroSigns kZeros>
void run(const ScaledPlan& plan, const void* elements, size_t groups, size_t length, const uint32_t* group_factors, uint8_t* codes,
         uint64_t* irregular) {
  Constants c = constants_of(plan);
  const bool are_whole = (length == kUnit || length == kHalf || length % kStep == 0);
  c.streams = c.streams && are_whole && (reinterpret_cast<uintptr_t>(codes) & 63U) == 0;
  if (length == kUnit || length == kHalf) {
    if (length == kUnit) {
      run_units<kSource, kZeros, kUnit>(elements, groups, group_factors, c, codes, irregular);
    } else {
      run_units<kSource, kZeros, kHalf>(elements, groups, group_factors, c, codes, irregular);
    }
    if (c.streams) _mm_sfence();
    return;
  }
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
  if (c.streams) _mm_sfence();
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
