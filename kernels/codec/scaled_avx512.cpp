// Elements under any fp32 factor with 512-bit vectors: one IEEE operation in fp32 lanes, then rounding in 16-bit lanes.

#include <immintrin.h>

#include "kernels/codec/rounding_avx512.hpp"
#include "kernels/codec/scaled_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kGroup = 128;  // elements of one step

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

constexpr size_t word_bytes(ElementSource source) { return source == ElementSource::f32 ? 4 : 2; }

template <ElementSource kSource>
uint32_t largest(const void* elements, size_t count) {
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
  __m512i amax[4];
  for (__m512i& lane : amax) lane = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    for (size_t j = 0; j < 4; ++j) {
      amax[j] = _mm512_max_epu32(amax[j], _mm512_and_si512(_mm512_castps_si512(numbers<kSource>(elements, i + 16 * j)), magnitude));
    }
  }
  for (; i < count; i += 16) {
    alignas(64) uint8_t rest[16 * 4] = {};
    const size_t left = count - i < 16 ? count - i : 16;
    __builtin_memcpy(rest, static_cast<const uint8_t*>(elements) + i * word_bytes(kSource), left * word_bytes(kSource));
    amax[0] = _mm512_max_epu32(amax[0], _mm512_and_si512(_mm512_castps_si512(numbers<kSource>(rest, 0)), magnitude));
  }
  return _mm512_reduce_max_epu32(_mm512_max_epu32(_mm512_max_epu32(amax[0], amax[1]), _mm512_max_epu32(amax[2], amax[3])));
}

template <ElementSource kSource, bool kDivides>
[[gnu::always_inline]] inline __m512i scaled(const void* elements, size_t i, __m512 factor) {
  const __m512 x = numbers<kSource>(elements, i);
  return _mm512_castps_si512(kDivides ? _mm512_div_ps(x, factor) : _mm512_mul_ps(x, factor));
}

template <ElementSource kSource, bool kDivides, bool kKeepsZeroSign>
[[gnu::always_inline]] inline void step(const void* elements, size_t i, __m512 factor, __m512i half_unit, const Rounding& r, bool nibble,
                                        uint8_t* codes) {
  Four coded;
  for (size_t j = 0; j < 4; ++j) {
    const __m512i low = scaled<kSource, kDivides>(elements, i + 32 * j, factor);
    const __m512i high = scaled<kSource, kDivides>(elements, i + 32 * j + 16, factor);
    coded.v[j] = codes_of<kKeepsZeroSign>(upper_halves(low, high), half_unit, r);
  }
  if (nibble) {
    _mm512_storeu_si512(codes, nibbles(coded));
  } else {
    _mm512_storeu_si512(codes, bytes(coded.v[0], coded.v[1]));
    _mm512_storeu_si512(codes + 64, bytes(coded.v[2], coded.v[3]));
  }
}

template <ElementSource kSource, bool kDivides, bool kKeepsZeroSign>
void run(const ScaledPlan& plan, const void* elements, size_t count, uint32_t factor_bits, uint8_t* codes) {
  const Rounding r = rounding_of(plan);
  const __m512 factor = _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(factor_bits)));
  const __m512i half_unit = set16(plan.half_unit);
  const bool nibble = plan.width == 4;
  const size_t whole = count / kGroup * kGroup;
  for (size_t i = 0; i < whole; i += kGroup) {
    step<kSource, kDivides, kKeepsZeroSign>(elements, i, factor, half_unit, r, nibble, codes + (nibble ? i / 2 : i));
  }
  if (whole == count) return;
  alignas(64) uint8_t rest[kGroup * word_bytes(kSource)] = {};
  alignas(64) uint8_t rest_codes[kGroup];
  __builtin_memcpy(rest, static_cast<const uint8_t*>(elements) + whole * word_bytes(kSource), (count - whole) * word_bytes(kSource));
  step<kSource, kDivides, kKeepsZeroSign>(rest, 0, factor, half_unit, r, nibble, rest_codes);
  __builtin_memcpy(codes + (nibble ? whole / 2 : whole), rest_codes, nibble ? (count - whole) / 2 : count - whole);
}

template <ElementSource kSource>
ScaledEncode* chosen(const ScaledPlan& plan) {
  if (plan.divides != 0) return plan.keeps_zero_sign != 0 ? run<kSource, true, true> : run<kSource, true, false>;
  return plan.keeps_zero_sign != 0 ? run<kSource, false, true> : run<kSource, false, false>;
}

}  // namespace

uint32_t largest_magnitude_avx512(ElementSource source, const void* elements, size_t count) {
  if (source == ElementSource::f32) return largest<ElementSource::f32>(elements, count);
  return source == ElementSource::bf16 ? largest<ElementSource::bf16>(elements, count) : largest<ElementSource::fp16>(elements, count);
}

void scaled_encode_avx512(const ScaledPlan& plan, const void* elements, size_t count, uint32_t factor, uint8_t* codes) {
  ScaledEncode* const by_source[] = {chosen<ElementSource::f32>(plan), chosen<ElementSource::bf16>(plan), chosen<ElementSource::fp16>(plan)};
  by_source[static_cast<uint32_t>(plan.source)](plan, elements, count, factor, codes);
}

}  // namespace mx::kernels
