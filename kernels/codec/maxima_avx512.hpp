#pragma once
// Largest words of many vectors at once, for files that are compiled for AVX-512: everything here is private to its file.

#include <immintrin.h>
#include <stddef.h>

namespace mx::kernels {
namespace {

/// Of each 128 bits of eight vectors the largest word of 16 bits without a sign, side by side.
[[gnu::always_inline]] inline __m512i largest_words(const __m512i (&x)[8]) {
  __m512i of_two[4];
  for (size_t i = 0; i < 4; ++i) {
    of_two[i] = _mm512_max_epu16(_mm512_unpacklo_epi16(x[2 * i], x[2 * i + 1]), _mm512_unpackhi_epi16(x[2 * i], x[2 * i + 1]));
  }
  __m512i of_four[2];
  for (size_t i = 0; i < 2; ++i) {
    of_four[i] = _mm512_max_epu16(_mm512_unpacklo_epi32(of_two[2 * i], of_two[2 * i + 1]), _mm512_unpackhi_epi32(of_two[2 * i], of_two[2 * i + 1]));
  }
  return _mm512_max_epu16(_mm512_unpacklo_epi64(of_four[0], of_four[1]), _mm512_unpackhi_epi64(of_four[0], of_four[1]));
}

/// The largest lane of each of sixteen vectors, in their order.
[[gnu::always_inline]] inline __m512i largest_lanes(const __m512i (&x)[16]) {
  __m512i of_two[8];
  for (size_t i = 0; i < 8; ++i) {
    of_two[i] = _mm512_max_epu32(_mm512_unpacklo_epi32(x[2 * i], x[2 * i + 1]), _mm512_unpackhi_epi32(x[2 * i], x[2 * i + 1]));
  }
  // Each quarter of of_four[i] has one number of each of the vectors 4 i to 4 i + 3.
  __m512i of_four[4];
  for (size_t i = 0; i < 4; ++i) {
    of_four[i] = _mm512_max_epu32(_mm512_unpacklo_epi64(of_two[2 * i], of_two[2 * i + 1]), _mm512_unpackhi_epi64(of_two[2 * i], of_two[2 * i + 1]));
  }
  __m512i of_eight[2];
  for (size_t i = 0; i < 2; ++i) {
    of_eight[i] = _mm512_max_epu32(_mm512_shuffle_i64x2(of_four[2 * i], of_four[2 * i + 1], 0x88),
                                   _mm512_shuffle_i64x2(of_four[2 * i], of_four[2 * i + 1], 0xDD));
  }
  return _mm512_max_epu32(_mm512_shuffle_i64x2(of_eight[0], of_eight[1], 0x88), _mm512_shuffle_i64x2(of_eight[0], of_eight[1], 0xDD));
}

}  // namespace
}  // namespace mx::kernels
