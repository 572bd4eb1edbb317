// Codes times one fp32 factor with 512-bit vectors: a lookup of 32 bf16 patterns, two products, one rounding.

#include <immintrin.h>

#include "kernels/codec/lookup_avx512.hpp"
#include "kernels/codec/product_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kUnit = 32;  // codes of one lookup
constexpr size_t kHalf = 16;

constexpr size_t word_bytes(ElementTarget target) { return target == ElementTarget::f32 ? 4 : 2; }

/// What is the same for every block.
struct Constants {
  Tables tables;
  __m512i largest, nan;
  bool clamps;
};

/// fp32 patterns of the even or odd half of 32 bf16 patterns.
[[gnu::always_inline]] inline __m512 widened(__m256i bf16) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bf16), 16)); }

/// fp32 patterns whose upper halves are the nearest bf16 ones; NaNs have no payload.
[[gnu::always_inline]] inline __m512i rounded(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
  const __m512i up = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF));
  return _mm512_mask_add_epi32(up, odd, up, _mm512_set1_epi32(1));
}

/// 32 bf16 patterns times factors of the first and the last 16: the even ones and the odd ones, which are fp32 numbers where they stand.
[[gnu::always_inline]] inline __m512i bf16_products(__m512i x, __m512 first, __m512 last) {
  const __m512 factors = _mm512_mask_mov_ps(first, 0xFF00, last);
  const __m512i even = rounded(_mm512_mul_ps(_mm512_castsi512_ps(_mm512_slli_epi32(x, 16)), factors));
  const __m512i upper = _mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U)));
  const __m512i odd = rounded(_mm512_mul_ps(_mm512_castsi512_ps(upper), factors));
  return _mm512_mask_mov_epi16(_mm512_srli_epi32(even, 16), 0xAAAAAAAAU, odd);
}

[[gnu::always_inline]] inline __m512i clamped32(__m512 x, const Constants& c) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF));
  const __m512i infinity = _mm512_set1_epi32(0x7F800000);
  const __m512i with_sign = _mm512_or_si512(_mm512_andnot_si512(_mm512_set1_epi32(0x7FFFFFFF), bits), c.largest);
  const __m512i bounded = _mm512_mask_mov_epi32(bits, _mm512_cmpeq_epi32_mask(magnitude, infinity), with_sign);
  return _mm512_mask_mov_epi32(bounded, _mm512_cmpgt_epu32_mask(magnitude, infinity), c.nan);
}

[[gnu::always_inline]] inline __m512i clamped16(__m512i bits, uint16_t infinity_bits, const Constants& c) {
  const __m512i all = _mm512_set1_epi16(0x7FFF);
  const __m512i magnitude = _mm512_and_si512(bits, all);
  const __m512i infinity = _mm512_set1_epi16(static_cast<short>(infinity_bits));
  const __m512i with_sign = _mm512_or_si512(_mm512_andnot_si512(all, bits), c.largest);
  const __m512i bounded = _mm512_mask_mov_epi16(bits, _mm512_cmpeq_epi16_mask(magnitude, infinity), with_sign);
  return _mm512_mask_mov_epi16(bounded, _mm512_cmpgt_epu16_mask(magnitude, infinity), c.nan);
}

/// 32 numbers from codes, the first and the last 16 under a factor each.
template <ElementTarget kTarget, uint32_t kWidth, bool kStreams>
[[gnu::always_inline]] inline void unit(const uint8_t* codes, __m512 first, __m512 last, uint8_t* to, const Constants& c) {
  const __m512i x = look_up<kWidth>(codes, c.tables);
  if constexpr (kTarget == ElementTarget::bf16) {
    const __m512i numbers = bf16_products(x, first, last);
    return store<kStreams>(to, c.clamps ? clamped16(numbers, 0x7F80, c) : numbers);
  }
  const __m512 low = _mm512_mul_ps(widened(_mm512_castsi512_si256(x)), first);
  const __m512 high = _mm512_mul_ps(widened(_mm512_extracti64x4_epi64(x, 1)), last);
  if constexpr (kTarget == ElementTarget::f32) {
    store<kStreams>(to, c.clamps ? clamped32(low, c) : _mm512_castps_si512(low));
    store<kStreams>(to + 64, c.clamps ? clamped32(high, c) : _mm512_castps_si512(high));
  } else {
    constexpr int kHow = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const __m512i numbers = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(low, kHow)), _mm512_cvtps_ph(high, kHow), 1);
    store<kStreams>(to, c.clamps ? clamped16(numbers, 0x7C00, c) : numbers);
  }
}

/// The same for fewer than 32.
template <ElementTarget kTarget, uint32_t kWidth>
void last_unit(const uint8_t* codes, size_t count, __m512 factor, uint8_t* to, const Constants& c) {
  alignas(64) uint8_t rest[kUnit] = {};
  alignas(64) uint8_t numbers[kUnit * 4];
  __builtin_memcpy(rest, codes, kWidth == 4 ? count / 2 : count);
  unit<kTarget, kWidth, false>(rest, factor, factor, numbers, c);
  __builtin_memcpy(to, numbers, count * word_bytes(kTarget));
}

[[gnu::always_inline]] inline __m512 all_lanes(uint32_t f32) { return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(f32))); }

template <ElementTarget kTarget, uint32_t kWidth, bool kStreams>
void run(const ProductPlan& plan, const uint8_t* codes, const uint32_t* factors, size_t blocks, size_t length, void* numbers) {
  constexpr size_t kWord = word_bytes(kTarget);
  const auto broadcast = [](uint32_t bits) {
    return kTarget == ElementTarget::f32 ? _mm512_set1_epi32(static_cast<int>(bits)) : _mm512_set1_epi16(static_cast<short>(bits));
  };
  const Constants c{tables_of(plan.values), broadcast(plan.largest), broadcast(plan.nan), plan.clamps != 0};
  const auto at = [&](size_t i) { return codes + (kWidth == 4 ? i / 2 : i); };
  auto* const to = static_cast<uint8_t*>(numbers);
  size_t b = 0;
  // Two short blocks fill a unit.
  for (; length == kHalf && b + 2 <= blocks; b += 2) {
    unit<kTarget, kWidth, kStreams>(at(b * kHalf), all_lanes(factors[b]), all_lanes(factors[b + 1]), to + b * kHalf * kWord, c);
  }
  for (; b < blocks; ++b) {
    const __m512 factor = all_lanes(factors[b]);
    const size_t last = (b + 1) * length;
    size_t i = b * length;
    for (; i + kUnit <= last; i += kUnit) unit<kTarget, kWidth, kStreams>(at(i), factor, factor, to + i * kWord, c);
    if (i != last) last_unit<kTarget, kWidth>(at(i), last - i, factor, to + i * kWord, c);
  }
  if constexpr (kStreams) _mm_sfence();
}

template <ElementTarget kTarget, bool kStreams>
ProductUnpack* chosen(const ProductPlan& plan) {
  if (plan.width == 4) return run<kTarget, 4, kStreams>;
  return plan.width == 8 ? run<kTarget, 8, kStreams> : run<kTarget, 6, kStreams>;
}

template <ElementTarget kTarget>
ProductUnpack* chosen(const ProductPlan& plan, bool streams) {
  return streams ? chosen<kTarget, true>(plan) : chosen<kTarget, false>(plan);
}

}  // namespace

void product_unpack_avx512(const ProductPlan& plan, const uint8_t* codes, const uint32_t* factors, size_t blocks, size_t length, void* numbers) {
  const bool whole_units = length == kHalf || length % kUnit == 0;
  const bool streams = plan.streams != 0 && whole_units && (reinterpret_cast<uintptr_t>(numbers) & 63U) == 0;
  ProductUnpack* const by_target[] = {chosen<ElementTarget::f32>(plan, streams), chosen<ElementTarget::bf16>(plan, streams),
                                      chosen<ElementTarget::fp16>(plan, streams)};
  by_target[static_cast<uint32_t>(plan.target)](plan, codes, factors, blocks, length, numbers);
}

}  // namespace mx::kernels
