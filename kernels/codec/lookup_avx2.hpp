#pragma once
// Codes looked up with 256-bit vectors, for files that are compiled for AVX2: everything here is private to its file. Codes of 4 bits are looked up
// as two planes of bytes; wider ones in memory, which a core with AVX2 does as fast as it would put a table of 256 words together from registers.

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace mx::kernels {
namespace {

/// The 16 values of codes of 4 bits as their low and high bytes.
struct Planes {
  __m256i low, high;
};

[[gnu::always_inline]] inline __m256i set16(int value) { return _mm256_set1_epi16(static_cast<short>(value)); }

Planes planes_of(const uint16_t* values) {
  alignas(16) uint8_t low[16];
  alignas(16) uint8_t high[16];
  for (size_t i = 0; i < 16; ++i) {
    low[i] = static_cast<uint8_t>(values[i]);
    high[i] = static_cast<uint8_t>(values[i] >> 8);
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

/// The patterns of 16 codes, from code i on.
template <bool kNibbles>
[[gnu::always_inline]] inline __m256i patterns(const uint16_t* values, const uint8_t* codes, size_t i, const Planes& p) {
  if constexpr (kNibbles) {
    // A double word becomes byte and byte >> 4, of which four bits each are kept.
    const __m256i byte = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes + i / 2)));
    return look_up(_mm256_and_si256(_mm256_or_si256(byte, _mm256_slli_epi32(byte, 12)), set16(0x0F)), p);
  } else {
    alignas(32) uint16_t words[16];
    for (size_t j = 0; j < 16; ++j) words[j] = values[codes[i + j]];
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
  }
}

template <bool kStreams>
[[gnu::always_inline]] inline void store(uint8_t* to, __m256i value) {
  if constexpr (kStreams) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
  }
}

}  // namespace
}  // namespace mx::kernels
