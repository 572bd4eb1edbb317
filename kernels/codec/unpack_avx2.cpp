// Codes back to numbers with 256-bit vectors. Codes of 4 bits are looked up as two planes of bytes; wider ones in memory, which a core with AVX2 does
// as fast as it would put a table of 256 words together from registers.

#include <immintrin.h>

#include "kernels/codec/unpack_plan.hpp"

namespace mx::kernels {
namespace {

constexpr size_t kBlock = 32;

/// The 16 values of codes of 4 bits as their low and high bytes.
struct Planes {
  __m256i low, high;
};

[[gnu::always_inline]] inline __m256i set16(int value) { return _mm256_set1_epi16(static_cast<short>(value)); }

Planes planes_of(const UnpackPlan& plan) {
  alignas(16) uint8_t low[16];
  alignas(16) uint8_t high[16];
  for (size_t i = 0; i < 16; ++i) {
    low[i] = static_cast<uint8_t>(plan.values[i]);
    high[i] = static_cast<uint8_t>(plan.values[i] >> 8);
  }
  return {_mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(low))),
          _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(high)))};
}

/// The patterns of 16 codes, one in the low byte of each word.
[[gnu::always_inline]] inline __m256i look_up(__m256i codes, const Planes& p) {
  const __m256i both = _mm256_or_si256(codes, _mm256_slli_epi16(codes, 8));
  const __m256i low = _mm256_and_si256(_mm256_shuffle_epi8(p.low, both), set16(0x00FF));
  return _mm256_or_si256(low, _mm256_andnot_si256(set16(0x00FF), _mm256_shuffle_epi8(p.high, both)));
}

/// Moves the exponents of numbers that have one: not of zeros, infinities and NaNs.
[[gnu::always_inline]] inline __m256i scaled(__m256i x, __m256i moved) {
  const __m256i magnitude = _mm256_and_si256(x, set16(0x7FFF));
  const __m256i is_zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
  const __m256i is_special = _mm256_cmpgt_epi16(magnitude, set16(0x7F7F));
  return _mm256_add_epi16(x, _mm256_andnot_si256(_mm256_or_si256(is_zero, is_special), moved));
}

template <bool kStreams>
[[gnu::always_inline]] inline void store(uint8_t* to, __m256i value) {
  if constexpr (kStreams) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
  }
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

/// The patterns of 16 codes of a block, from code i on.
template <bool kNibbles>
[[gnu::always_inline]] inline __m256i patterns(const UnpackPlan& plan, const uint8_t* codes, size_t i, const Planes& p) {
  if constexpr (kNibbles) {
    // A double word becomes byte and byte >> 4, of which four bits each are kept.
    const __m256i byte = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes + i / 2)));
    return look_up(_mm256_and_si256(_mm256_or_si256(byte, _mm256_slli_epi32(byte, 12)), set16(0x0F)), p);
  } else {
    alignas(32) uint16_t words[16];
    for (size_t j = 0; j < 16; ++j) words[j] = plan.values[codes[i + j]];
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
  }
}

template <ElementTarget kTarget, bool kNibbles, bool kStreams>
void run(const UnpackPlan& plan, const uint8_t* codes, const uint8_t* scales, size_t blocks, void* numbers, uint64_t* irregular) {
  constexpr size_t kCodes = kNibbles ? kBlock / 2 : kBlock;
  constexpr size_t kNumber = kTarget == ElementTarget::f32 ? 4 : 2;
  const Planes p = planes_of(plan);
  auto* to = static_cast<uint8_t*>(numbers);
  for (size_t b = 0; b < blocks; ++b) {
    if (__builtin_expect(scales[b] - plan.scale_from > plan.scale_span, 0)) irregular[b / 64] |= uint64_t{1} << (b % 64);
    const __m256i moved = set16((scales[b] - 127) * 128);
    for (size_t i = 0; i < kBlock; i += 16) {
      store_numbers<kTarget, kStreams>(to + (b * kBlock + i) * kNumber, scaled(patterns<kNibbles>(plan, codes + b * kCodes, i, p), moved));
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
