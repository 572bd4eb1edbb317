// Codes back to numbers with 256-bit vectors.

#include <immintrin.h>

#include "kernels/codec/lookup_avx2.hpp"
#include "kernels/codec/unpack_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kBlock = 32;

/// Moves the exponents of numbers that have one: not of zeros, infinities and NaNs.
[[gnu::always_inline]] inline __m256i scaled(__m256i x, __m256i moved) {
  const __m256i magnitude = _mm256_and_si256(x, set16(0x7FFF));
  const __m256i is_zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
  const __m256i is_special = _mm256_cmpgt_epi16(magnitude, set16(0x7F7F));
  return _mm256_add_epi16(x, _mm256_andnot_si256(_mm256_or_si256(is_zero, is_special), moved));
}

template <ElementTarget kTarget, bool kStreams>
[[gnu::always_inline]] inline void store_numbers(uint8_t* to, __m256i x) {
  if constexpr (kTarget == ElementTarget::bf16) {
    store<kStreams>(to, x);
  } else {
    store<kStreams>(to, _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(x)), 16));
    store<kStreams>(to + 32, _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(x, 1)), 16));
  }
}

template <ElementTarget kTarget, bool kNibbles, bool kStreams>
void run(const UnpackPlan& plan, const uint8_t* codes, const uint8_t* scales, size_t blocks, void* numbers, uint64_t* irregular) {
  constexpr size_t kCodes = kNibbles ? kBlock / 2 : kBlock;
  constexpr size_t kNumber = kTarget == ElementTarget::f32 ? 4 : 2;
  const Planes p = planes_of(plan.values);
  auto* to = static_cast<uint8_t*>(numbers);
  for (size_t b = 0; b < blocks; ++b) {
    if (__builtin_expect(scales[b] - plan.scale_from > plan.scale_span, 0)) irregular[b / 64] |= uint64_t{1} << (b % 64);
    const __m256i moved = set16((scales[b] - 127) * 128);
    for (size_t i = 0; i < kBlock; i += 16) {
      store_numbers<kTarget, kStreams>(to + (b * kBlock + i) * kNumber, scaled(patterns<kNibbles>(plan.values, codes + b * kCodes, i, p), moved));
    }
  }
  if constexpr (kStreams) _mm_sfence();
}

template <ElementTarget kTarget, bool kStreams>
Unpack* chosen(const UnpackPlan& plan) {
  return plan.width == 4 ? run<kTarget, true, kStreams> : run<kTarget, false, kStreams>;
}

}  // namespace

void unpack_avx2(const UnpackPlan& plan, const uint8_t* codes, const uint8_t* scales, size_t blocks, void* numbers, uint64_t* irregular) {
  const bool streams = plan.streams != 0 && (reinterpret_cast<uintptr_t>(numbers) & 31U) == 0;
  Unpack* const f32 = streams ? chosen<ElementTarget::f32, true>(plan) : chosen<ElementTarget::f32, false>(plan);
  Unpack* const bf16 = streams ? chosen<ElementTarget::bf16, true>(plan) : chosen<ElementTarget::bf16, false>(plan);
  (plan.target == ElementTarget::f32 ? f32 : bf16)(plan, codes, scales, blocks, numbers, irregular);
}

}  // namespace mx::kernels
