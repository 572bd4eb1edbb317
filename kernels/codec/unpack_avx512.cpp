// Codes back to numbers with 512-bit vectors: a lookup in registers, then one addition to the exponents of 32 elements.

#include <immintrin.h>

#include "kernels/codec/lookup_avx512.hpp"
#include "kernels/codec/unpack_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kBlock = 32;
constexpr size_t kBatch = 16;  // blocks whose scales are looked at together

/// Moves the exponents of numbers that have one: not of zeros, infinities and NaNs.
[[gnu::always_inline]] inline __m512i scaled(__m512i x, uint8_t scale) {
  const __m512i magnitude = _mm512_and_si512(x, set16(0x7FFF));
  const __mmask32 moves = _mm512_cmplt_epu16_mask(_mm512_sub_epi16(magnitude, set16(1)), set16(0x7F7F));
  return _mm512_mask_add_epi16(x, moves, x, set16((scale - 127) * 128));
}

template <ElementTarget kTarget, uint32_t kWidth, bool kStreams>
[[gnu::always_inline]] inline void unpack_block(const uint8_t* codes, uint8_t scale, uint8_t* to, const Tables& t) {
  const __m512i x = scaled(look_up<kWidth>(codes, t), scale);
  if constexpr (kTarget == ElementTarget::bf16) {
    store<kStreams>(to, x);
  } else {
    store<kStreams>(to, _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(x)), 16));
    store<kStreams>(to + 64, _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(x, 1)), 16));
  }
}

template <ElementTarget kTarget, uint32_t kWidth, bool kStreams>
void run(const UnpackPlan& plan, const uint8_t* codes, const uint8_t* scales, size_t blocks, void* numbers, uint64_t* irregular) {
  constexpr size_t kCodes = kWidth == 4 ? kBlock / 2 : kBlock;
  constexpr size_t kBytes = kTarget == ElementTarget::f32 ? 4 * kBlock : 2 * kBlock;
  const Tables t = tables_of(plan.values);
  const __m128i from = _mm_set1_epi8(static_cast<char>(plan.scale_from));
  const __m128i span = _mm_set1_epi8(static_cast<char>(plan.scale_span));
  auto* to = static_cast<uint8_t*>(numbers);
  for (size_t b = 0; b < blocks; b += kBatch) {
    const size_t count = blocks - b < kBatch ? blocks - b : kBatch;
    const auto present = static_cast<__mmask16>((1U << count) - 1U);
    const __m128i bytes = _mm_maskz_loadu_epi8(present, scales + b);
    const __mmask16 outside = _mm_mask_cmpgt_epu8_mask(present, _mm_sub_epi8(bytes, from), span);
    if (__builtin_expect(outside != 0, 0)) irregular[b / 64] |= static_cast<uint64_t>(outside) << (b % 64);
    for (size_t i = b; i < b + count; ++i) unpack_block<kTarget, kWidth, kStreams>(codes + i * kCodes, scales[i], to + i * kBytes, t);
  }
  if constexpr (kStreams) _mm_sfence();
}

template <ElementTarget kTarget, bool kStreams>
Unpack* chosen(const UnpackPlan& plan) {
  if (plan.width == 4) return run<kTarget, 4, kStreams>;
  return plan.width == 8 ? run<kTarget, 8, kStreams> : run<kTarget, 6, kStreams>;
}

}  // namespace

void unpack_avx512(const UnpackPlan& plan, const uint8_t* codes, const uint8_t* scales, size_t blocks, void* numbers, uint64_t* irregular) {
  const bool streams = plan.streams != 0 && (reinterpret_cast<uintptr_t>(numbers) & 63U) == 0;
  Unpack* const f32 = streams ? chosen<ElementTarget::f32, true>(plan) : chosen<ElementTarget::f32, false>(plan);
  Unpack* const bf16 = streams ? chosen<ElementTarget::bf16, true>(plan) : chosen<ElementTarget::bf16, false>(plan);
  (plan.target == ElementTarget::f32 ? f32 : bf16)(plan, codes, scales, blocks, numbers, irregular);
}

}  // namespace mx::kernels
