#pragma once
// Codes looked up in registers with 512-bit vectors, for files that are compiled for AVX-512: everything here is private to its file.

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace mx::kernels {
namespace {

struct Tables {
  __m512i v[8];
};

[[gnu::always_inline]] inline __m512i set16(int value) { return _mm512_set1_epi16(static_cast<short>(value)); }

/// 32 patterns of a block: 16 bytes of two codes each. The words of a double word become byte and byte >> 4, of which the lookup takes five bits; the
/// table holds the 16 values twice, so that the fifth does not matter.
[[gnu::always_inline]] inline __m512i look_up_nibbles(const uint8_t* codes, const Tables& t) {
  const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
  return _mm512_permutexvar_epi16(_mm512_or_si512(bytes, _mm512_slli_epi32(bytes, 12)), t.v[0]);
}

/// 32 patterns of a block of one byte each, of which 256 or 64 differ.
template <bool kWide>
[[gnu::always_inline]] inline __m512i look_up_bytes(const uint8_t* codes, const Tables& t) {
  const __m512i x = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes)));
  const __m512i first = _mm512_permutex2var_epi16(t.v[0], x, t.v[1]);
  if constexpr (!kWide) return first;
  const __mmask32 bit6 = _mm512_test_epi16_mask(x, set16(0x40));
  const __mmask32 bit7 = _mm512_test_epi16_mask(x, set16(0x80));
  const __m512i low = _mm512_mask_mov_epi16(first, bit6, _mm512_permutex2var_epi16(t.v[2], x, t.v[3]));
  const __m512i high = _mm512_mask_mov_epi16(_mm512_permutex2var_epi16(t.v[4], x, t.v[5]), bit6, _mm512_permutex2var_epi16(t.v[6], x, t.v[7]));
  return _mm512_mask_mov_epi16(low, bit7, high);
}

/// 32 patterns of codes of that many bits.
template <uint32_t kWidth>
[[gnu::always_inline]] inline __m512i look_up(const uint8_t* codes, const Tables& t) {
  if constexpr (kWidth == 4) return look_up_nibbles(codes, t);
  return look_up_bytes<kWidth == 8>(codes, t);
}

inline Tables tables_of(const uint16_t* values) {
  Tables t;
  for (size_t i = 0; i < 8; ++i) t.v[i] = _mm512_load_si512(values + 32 * i);
  return t;
}

template <bool kStreams>
[[gnu::always_inline]] inline void store(void* to, __m512i value) {
  if constexpr (kStreams) {
    _mm512_stream_si512(static_cast<__m512i*>(to), value);
  } else {
    _mm512_storeu_si512(to, value);
  }
}

}  // namespace
}  // namespace mx::kernels
