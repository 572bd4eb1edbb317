// Codes times one fp32 factor with 256-bit vectors: a lookup of 16 bf16 patterns, two products, one rounding.

#include <immintrin.h>

#include "kernels/codec/lookup_avx2.hpp"
#include "kernels/codec/product_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kUnit = 16;  // codes of one lookup

constexpr size_t word_bytes(ElementTarget target) { return target == ElementTarget::f32 ? 4 : 2; }

/// What is the same for every block.
struct Constants {
  const uint16_t* values;
  Planes planes;
  __m256i largest, nan;
  bool clamps;
};

[[gnu::always_inline]] inline __m256 widened(__m128i bf16) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bf16), 16)); }

/// 8 fp32 patterns to the nearest bf16 ones in words of 32 bits; NaNs have no payload.
[[gnu::always_inline]] inline __m256i to_bf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd), 16);
}

[[gnu::always_inline]] inline __m256i clamped32(__m256 x, const Constants& c) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i all = _mm256_set1_epi32(0x7FFFFFFF);
  const __m256i magnitude = _mm256_and_si256(bits, all);
  const __m256i infinity = _mm256_set1_epi32(0x7F800000);
  const __m256i with_sign = _mm256_or_si256(_mm256_andnot_si256(all, bits), c.largest);
  const __m256i bounded = _mm256_blendv_epi8(bits, with_sign, _mm256_cmpeq_epi32(magnitude, infinity));
  return _mm256_blendv_epi8(bounded, c.nan, _mm256_cmpgt_epi32(magnitude, infinity));
}

[[gnu::always_inline]] inline __m256i clamped16(__m256i bits, int infinity_bits, const Constants& c) {
  const __m256i magnitude = _mm256_and_si256(bits, set16(0x7FFF));
  const __m256i infinity = set16(infinity_bits);
  const __m256i with_sign = _mm256_or_si256(_mm256_andnot_si256(set16(0x7FFF), bits), c.largest);
  const __m256i bounded = _mm256_blendv_epi8(bits, with_sign, _mm256_cmpeq_epi16(magnitude, infinity));
  return _mm256_blendv_epi8(bounded, c.nan, _mm256_cmpgt_epi16(magnitude, infinity));
}

/// 16 numbers from the codes from i on.
template <ElementTarget kTarget, bool kNibbles, bool kStreams>
[[gnu::always_inline]] inline void unit(const uint8_t* codes, size_t i, __m256 factor, uint8_t* to, const Constants& c) {
  const __m256i x = patterns<kNibbles>(c.values, codes, i, c.planes);
  const __m256 low = _mm256_mul_ps(widened(_mm256_castsi256_si128(x)), factor);
  const __m256 high = _mm256_mul_ps(widened(_mm256_extracti128_si256(x, 1)), factor);
  if constexpr (kTarget == ElementTarget::f32) {
    store<kStreams>(to, c.clamps ? clamped32(low, c) : _mm256_castps_si256(low));
    store<kStreams>(to + 32, c.clamps ? clamped32(high, c) : _mm256_castps_si256(high));
  } else if constexpr (kTarget == ElementTarget::bf16) {
    const __m256i numbers = _mm256_permute4x64_epi64(_mm256_packus_epi32(to_bf16(low), to_bf16(high)), 0xD8);
    store<kStreams>(to, c.clamps ? clamped16(numbers, 0x7F80, c) : numbers);
  } else {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const __m256i numbers = _mm256_set_m128i(_mm256_cvtps_ph(high, kNearest), _mm256_cvtps_ph(low, kNearest));
    store<kStreams>(to, c.clamps ? clamped16(numbers, 0x7C00, c) : numbers);
  }
}

/// The same for fewer than 16.
template <ElementTarget kTarget, bool kNibbles>
void last_unit(const uint8_t* codes, size_t count, __m256 factor, uint8_t* to, const Constants& c) {
  alignas(32) uint8_t rest[kUnit] = {};
  alignas(32) uint8_t numbers[kUnit * 4];
  __builtin_memcpy(rest, codes, kNibbles ? count / 2 : count);
  unit<kTarget, kNibbles, false>(rest, 0, factor, numbers, c);
  __builtin_memcpy(to, numbers, count * word_bytes(kTarget));
}

template <ElementTarget kTarget, bool kNibbles, bool kStreams>
void run(const ProductPlan& plan, const uint8_t* codes, const uint32_t* factors, size_t blocks, size_t length, void* numbers) {
  constexpr size_t kWord = word_bytes(kTarget);
  const auto broadcast = [](uint32_t bits) {
    return kTarget == ElementTarget::f32 ? _mm256_set1_epi32(static_cast<int>(bits)) : set16(static_cast<int>(bits));
  };
  const Constants c{plan.values, planes_of(plan.values), broadcast(plan.largest), broadcast(plan.nan), plan.clamps != 0};
  auto* const to = static_cast<uint8_t*>(numbers);
  for (size_t b = 0; b < blocks; ++b) {
    const __m256 factor = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(factors[b])));
    const size_t last = (b + 1) * length;
    size_t i = b * length;
    for (; i + kUnit <= last; i += kUnit) unit<kTarget, kNibbles, kStreams>(codes, i, factor, to + i * kWord, c);
    if (i != last) last_unit<kTarget, kNibbles>(codes + (kNibbles ? i / 2 : i), last - i, factor, to + i * kWord, c);
  }
  if constexpr (kStreams) _mm_sfence();
}

template <ElementTarget kTarget>
ProductUnpack* chosen(const ProductPlan& plan, bool streams) {
  if (plan.width == 4) return streams ? run<kTarget, true, true> : run<kTarget, true, false>;
  return streams ? run<kTarget, false, true> : run<kTarget, false, false>;
}

}  // namespace

void product_unpack_avx2(const ProductPlan& plan, const uint8_t* codes, const uint32_t* factors, size_t blocks, size_t length, void* numbers) {
  const bool streams = plan.streams != 0 && length % kUnit == 0 && (reinterpret_cast<uintptr_t>(numbers) & 31U) == 0;
  ProductUnpack* const by_target[] = {chosen<ElementTarget::f32>(plan, streams), chosen<ElementTarget::bf16>(plan, streams),
                                      chosen<ElementTarget::fp16>(plan, streams)};
  by_target[static_cast<uint32_t>(plan.target)](plan, codes, factors, blocks, length, numbers);
}

}  // namespace mx::kernels
