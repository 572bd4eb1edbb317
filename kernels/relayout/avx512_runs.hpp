#pragma once
// Runs of bytes between memory and registers of 64 bytes. For files of the AVX-512 tiers alone: nothing here has a linkage that another tier could
// pick up.

#include <immintrin.h>
#include <stdint.h>

namespace {

constexpr int64_t kVector = 64;

inline __mmask64 first(int64_t count) { return count < kVector ? (1ULL << count) - 1 : ~0ULL; }

/// Full lines of the target are streamed past the caches; the rest is stored as usual.
inline void store(uint8_t* target, const uint8_t* from, int64_t length) {
  while (length > 0) {
    const int64_t to_line = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(target) & (kVector - 1));
    if (to_line == 0 && length >= kVector) {
      do {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(target), _mm512_loadu_si512(from));
        target += kVector;
        from += kVector;
        length -= kVector;
      } while (length >= kVector);
      continue;
    }
    const int64_t part = to_line != 0 && to_line < length ? to_line : length;
    const __mmask64 mask = first(part);
    _mm512_mask_storeu_epi8(target, mask, _mm512_maskz_loadu_epi8(mask, from));
    target += part;
    from += part;
    length -= part;
  }
}

/// Into the caches, no byte more.
inline void keep(uint8_t* target, const uint8_t* from, int64_t length) {
  for (; length > 0; length -= kVector, target += kVector, from += kVector) {
    const __mmask64 mask = first(length);
    _mm512_mask_storeu_epi8(target, mask, _mm512_maskz_loadu_epi8(mask, from));
  }
}

inline void load(uint8_t* at, const uint8_t* from, int64_t length) {
  for (; length >= kVector; length -= kVector, at += kVector, from += kVector) _mm512_storeu_si512(at, _mm512_loadu_si512(from));
  if (length > 0) _mm512_storeu_si512(at, _mm512_maskz_loadu_epi8(first(length), from));
}

/// Padding: a few bytes beside each piece, for which a call would take longer than the piece.
inline void fill(uint8_t* at, uint8_t content, int64_t length) {
  const __m512i value = _mm512_set1_epi8(static_cast<char>(content));
  for (; length >= kVector; length -= kVector, at += kVector) _mm512_storeu_si512(at, value);
  if (length > 0) _mm512_mask_storeu_epi8(at, first(length), value);
}

}  // namespace
