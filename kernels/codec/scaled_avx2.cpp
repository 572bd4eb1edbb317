// Elements under any fp32 factor with 256-bit vectors: as with 512 bits, 16 elements in a vector.

#include <immintrin.h>

#include "kernels/codec/rounding_avx2.hpp"
#include "kernels/codec/scaled_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kStep = 64;              // elements of one step
constexpr size_t kUnit = 16;              // elements that share a factor
constexpr size_t kUnits = kStep / kUnit;  // per step

/// 8 fp32 numbers from element i on.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m256 numbers(const void* elements, size_t i) {
  if constexpr (kSource == ElementSource::f32) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(static_cast<const uint32_t*>(elements) + i));
  } else {
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(static_cast<const uint16_t*>(elements) + i));
    if constexpr (kSource == ElementSource::fp16) return _mm256_cvtph_ps(words);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words), 16));
  }
}

constexpr size_t word_bytes(ElementSource source) { return source == ElementSource::f32 ? 4 : 2; }

template <ElementSource kSource>
const void* element(const void* elements, size_t i) {
  return static_cast<const uint8_t*>(elements) + i * word_bytes(kSource);
}

template <ElementSource kSource>
[[gnu::always_inline]] inline __m256i magnitudes(const void* elements, size_t i) {
  return _mm256_and_si256(_mm256_castps_si256(numbers<kSource>(elements, i)), _mm256_set1_epi32(0x7FFFFFFF));
}

[[gnu::always_inline]] inline uint32_t largest_lane(__m256i x) {
  __m128i all = _mm_max_epu32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  all = _mm_max_epu32(all, _mm_shuffle_epi32(all, 0x4E));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_max_epu32(all, _mm_shuffle_epi32(all, 0xB1))));
}

template <ElementSource kSource>
uint32_t largest_of(const void* elements, size_t length) {
  __m256i amax[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  size_t i = 0;
  for (; i + 16 <= length; i += 16) {
    for (size_t j = 0; j < 2; ++j) amax[j] = _mm256_max_epu32(amax[j], magnitudes<kSource>(elements, i + 8 * j));
  }
  if (i != length) {
    alignas(32) uint8_t rest[16 * 4] = {};
    __builtin_memcpy(rest, element<kSource>(elements, i), (length - i) * word_bytes(kSource));
    for (size_t j = 0; j < 2; ++j) amax[j] = _mm256_max_epu32(amax[j], magnitudes<kSource>(rest, 8 * j));
  }
  return largest_lane(_mm256_max_epu32(amax[0], amax[1]));
}

/// The largest lane of each of eight vectors, in their order.
[[gnu::always_inline]] inline __m256i largest_lanes(const __m256i (&x)[8]) {
  __m256i of_two[4];
  for (size_t i = 0; i < 4; ++i) {
    of_two[i] = _mm256_max_epu32(_mm256_unpacklo_epi32(x[2 * i], x[2 * i + 1]), _mm256_unpackhi_epi32(x[2 * i], x[2 * i + 1]));
  }
  __m256i of_four[2];
  for (size_t i = 0; i < 2; ++i) {
    of_four[i] = _mm256_max_epu32(_mm256_unpacklo_epi64(of_two[2 * i], of_two[2 * i + 1]), _mm256_unpackhi_epi64(of_two[2 * i], of_two[2 * i + 1]));
  }
  return _mm256_max_epu32(_mm256_permute2x128_si256(of_four[0], of_four[1], 0x20), _mm256_permute2x128_si256(of_four[0], of_four[1], 0x31));
}

/// Eight groups at once where they are short and their length is a multiple of 16.
template <ElementSource kSource>
void largest(const void* elements, size_t groups, size_t length, uint32_t* amax) {
  size_t g = 0;
  for (; length <= 32 && length % 16 == 0 && g + 8 <= groups; g += 8) {
    __m256i x[8];
    for (size_t j = 0; j < 8; ++j) {
      const size_t first = (g + j) * length;
      x[j] = _mm256_max_epu32(magnitudes<kSource>(elements, first), magnitudes<kSource>(elements, first + 8));
      if (length != 32) continue;
      const __m256i last = _mm256_max_epu32(magnitudes<kSource>(elements, first + 16), magnitudes<kSource>(elements, first + 24));
      x[j] = _mm256_max_epu32(x[j], last);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(amax + g), largest_lanes(x));
  }
  for (; g < groups; ++g) amax[g] = largest_of<kSource>(element<kSource>(elements, g * length), length);
}

/// What is the same for every group.
struct Constants {
  Rounding rounding;
  __m256i half_unit;
  __m256 before, behind, units;
  __m256 nearly_half;  ///< added to counts of units whose ties go away from zero, else 0
  bool multiplies_before, divides, narrows, multiplies_behind, doubts, counts, ties_to_even, nibbles, streams;
};

[[gnu::always_inline]] inline Constants constants_of(const ScaledPlan& plan) {
  const RoundingPlan& r = plan.rounding;
  return {rounding_of(r),
          set16(plan.half_unit),
          _mm256_set1_ps(plan.before),
          _mm256_set1_ps(plan.behind),
          _mm256_set1_ps(plan.units),
          _mm256_set1_ps(r.sticky != 0 ? 0x1.FFFFFEp-2F : 0.0F),
          plan.before != 1.0F,
          plan.divides != 0,
          plan.narrows != 0,
          plan.behind != 1.0F,
          plan.doubts != 0,
          plan.units != 0,
          r.addend != 0 && r.sticky == 0,
          r.width == 4,
          plan.streams != 0};
}

/// Finite numbers as the source's type holds them.
template <ElementSource kSource>
[[gnu::always_inline]] inline __m256 narrow(__m256 x) {
  if constexpr (kSource == ElementSource::fp16) {
    return _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  } else if constexpr (kSource == ElementSource::bf16) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
    return _mm256_castsi256_ps(_mm256_and_si256(up, _mm256_set1_epi32(static_cast<int>(0xFFFF0000U))));
  }
  return x;
}

/// Counts of 8 fp32 numbers in words of 32 bits, as with 512 bits.
[[gnu::always_inline]] inline __m256i counted(__m256 x, const Constants& c) {
  const __m256 most = _mm256_set1_ps(127.0F);
  const __m256 sign = _mm256_set1_ps(-0.0F);
  const __m256 within = _mm256_max_ps(_mm256_min_ps(_mm256_mul_ps(x, c.units), most), _mm256_or_ps(most, sign));
  if (c.ties_to_even) return _mm256_cvtps_epi32(within);
  return _mm256_cvttps_epi32(_mm256_add_ps(within, _mm256_or_ps(c.nearly_half, _mm256_and_ps(within, sign))));
}

/// Magnitudes just below a power of two.
[[gnu::always_inline]] inline __m256i doubtful(__m256 x) {
  const __m256i top = _mm256_set1_epi32(0x007FFFC0);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(x), top), top);
}

/// 64 elements.
struct Elements {
  __m256 of[kUnits][2];
};

template <class Change>
[[gnu::always_inline]] inline void change_all(Elements& x, const Change& change) {
  for (size_t j = 0; j < kUnits; ++j) {
    for (size_t k = 0; k < 2; ++k) x.of[j][k] = change(x.of[j][k], j);
  }
}

/// The elements of a step, as they are before they become codes.
template <ElementSource kSource>
[[gnu::always_inline]] inline Elements scaled(const void* elements, size_t i, const __m256* factors, const Constants& c) {
  Elements x;
  for (size_t j = 0; j < kUnits; ++j) {
    for (size_t k = 0; k < 2; ++k) x.of[j][k] = numbers<kSource>(elements, i + kUnit * j + 8 * k);
  }
  if (c.multiplies_before) change_all(x, [&](__m256 v, size_t) { return _mm256_mul_ps(v, c.before); });
  if (c.divides) {
    change_all(x, [&](__m256 v, size_t j) { return _mm256_div_ps(v, factors[j]); });
  } else {
    change_all(x, [&](__m256 v, size_t j) { return _mm256_mul_ps(v, factors[j]); });
  }
  if (c.narrows) change_all(x, [&](__m256 v, size_t) { return narrow<kSource>(v); });
  if (c.multiplies_behind) change_all(x, [&](__m256 v, size_t) { return _mm256_mul_ps(v, c.behind); });
  return x;
}

/// Bit j for a doubtful number in unit j.
[[gnu::always_inline]] inline uint32_t doubts_of(const Elements& x) {
  uint32_t doubts = 0;
  for (size_t j = 0; j < kUnits; ++j) {
    doubts |= _mm256_movemask_epi8(_mm256_or_si256(doubtful(x.of[j][0]), doubtful(x.of[j][1]))) != 0 ? 1U << j : 0U;
  }
  return doubts;
}

[[gnu::always_inline]] inline void store(uint8_t* to, __m256i value, const Constants& c) {
  if (c.streams) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
  }
}

/// Asks for what lies a chunk and two behind these elements, to come to the first cache and to the second.
template <ElementSource kSource>
[[gnu::always_inline]] inline void ask_behind(const void* elements) {
  constexpr size_t kChunk = kScaledChunk * word_bytes(kSource);
  const auto* const from = static_cast<const uint8_t*>(elements) + kChunk;
  for (size_t line = 0; line < kStep * word_bytes(kSource); line += 64) {
    __builtin_prefetch(from + line, 0, 3);
    __builtin_prefetch(from + kChunk + line, 0, 2);
  }
}

/// Codes of 64 elements from i on; bit j for a doubtful one in unit j.
template <ElementSource kSource, ZeroSigns kZeros>
[[gnu::always_inline]] inline uint32_t step(const void* elements, size_t i, const __m256* factors, const Constants& c, uint8_t* codes) {
  ask_behind<kSource>(element<kSource>(elements, i));
  const Elements x = scaled<kSource>(elements, i, factors, c);
  __m256i coded[kUnits];
  if (c.counts) {
    for (size_t j = 0; j < kUnits; ++j) {
      const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(counted(x.of[j][0], c), counted(x.of[j][1], c)), 0xD8);
      coded[j] = _mm256_and_si256(words, _mm256_set1_epi16(0xFF));
    }
  } else {
    for (size_t j = 0; j < kUnits; ++j) {
      const __m256i halves = upper_halves(_mm256_castps_si256(x.of[j][0]), _mm256_castps_si256(x.of[j][1]));
      coded[j] = codes_of<kZeros>(halves, c.half_unit, c.rounding);
    }
  }
  if (c.nibbles) {
    store(codes, nibbles(coded), c);
  } else {
    store(codes, bytes(coded[0], coded[1]), c);
    store(codes + 32, bytes(coded[2], coded[3]), c);
  }
  return c.doubts ? doubts_of(x) : 0U;
}

/// The same for at most 64 elements.
template <ElementSource kSource, ZeroSigns kZeros>
uint32_t last_step(const void* elements, size_t i, size_t count, const __m256* factors, const Constants& c, uint8_t* codes) {
  alignas(32) uint8_t rest[kStep * word_bytes(kSource)] = {};
  alignas(32) uint8_t rest_codes[kStep];
  __builtin_memcpy(rest, element<kSource>(elements, i), count * word_bytes(kSource));
  Constants cached = c;
  cached.streams = false;
  const uint32_t doubts = step<kSource, kZeros>(rest, 0, factors, cached, rest_codes);
  __builtin_memcpy(codes, rest_codes, c.nibbles ? count / 2 : count);
  return doubts;
}

[[gnu::always_inline]] inline __m256 all_lanes(uint32_t f32) { return _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(f32))); }

/// Groups of one unit or two each: four or two to a step.
template <ElementSource kSource, ZeroSigns kZeros>
void run_units(const void* elements, size_t groups, size_t length, const uint32_t* group_factors, const Constants& c, uint8_t* codes,
               uint64_t* irregular) {
  const size_t units = length / kUnit;
  const size_t together = kUnits / units;
  const size_t code_bytes = c.nibbles ? length / 2 : length;
  for (size_t g = 0; g < groups; g += together) {
    const size_t count = groups - g < together ? groups - g : together;
    __m256 factors[kUnits];
    for (size_t j = 0; j < kUnits; ++j) factors[j] = all_lanes(group_factors[g + (j / units < count ? j / units : 0)]);
    uint32_t doubts = count == together ? step<kSource, kZeros>(elements, g * length, factors, c, codes + g * code_bytes)
                                        : last_step<kSource, kZeros>(elements, g * length, count * length, factors, c, codes + g * code_bytes);
    if (__builtin_expect(doubts == 0, 1)) continue;
    for (size_t j = 0; j < count * units; ++j) {
      if ((doubts >> j & 1U) != 0) irregular[(g + j / units) / 64] |= uint64_t{1} << ((g + j / units) % 64);
    }
  }
}

template <ElementSource kSource, ZeroSigns kZeros>
void run(const ScaledPlan& plan, const void* elements, size_t groups, size_t length, const uint32_t* group_factors, uint8_t* codes,
         uint64_t* irregular) {
  Constants c = constants_of(plan);
  const bool are_whole = length == kUnit || length == 2 * kUnit || length % kStep == 0;
  c.streams = c.streams && are_whole && (reinterpret_cast<uintptr_t>(codes) & 31U) == 0;
  if (length == kUnit || length == 2 * kUnit) {
    run_units<kSource, kZeros>(elements, groups, length, group_factors, c, codes, irregular);
    if (c.streams) _mm_sfence();
    return;
  }
  for (size_t g = 0; g < groups; ++g) {
    __m256 factors[kUnits];
    for (__m256& factor : factors) factor = all_lanes(group_factors[g]);
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

void largest_magnitudes_avx2(ElementSource source, const void* elements, size_t groups, size_t length, uint32_t* amax) {
  if (source == ElementSource::f32) return largest<ElementSource::f32>(elements, groups, length, amax);
  if (source == ElementSource::bf16) return largest<ElementSource::bf16>(elements, groups, length, amax);
  largest<ElementSource::fp16>(elements, groups, length, amax);
}

void scaled_encode_avx2(const ScaledPlan& plan, const void* elements, size_t groups, size_t length, const uint32_t* factors, uint8_t* codes,
                        uint64_t* irregular) {
  ScaledEncode* const by_source[] = {chosen<ElementSource::f32>(plan), chosen<ElementSource::bf16>(plan), chosen<ElementSource::fp16>(plan)};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, groups, length, factors, codes, irregular);
}

}  // namespace mx::kernels
