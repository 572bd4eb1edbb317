#pragma once
// Runs of bytes between memory and registers of 64 bytes. For files of the AVX-512 tiers alone: nothing here has a linkage that another tier could
// pick up.

#include <immintrin.h>
#include <stdint.h>

#include "kernels/relayout/tile_code.hpp"

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

inline void write_tail(MxTileTail& tail) {
  const __m512i line = _mm512_load_si512(tail.line);
  if (tail.end - tail.begin == kVector) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(tail.target), line);
  } else if (tail.end != tail.begin) {
    _mm512_mask_storeu_epi8(tail.target, first(tail.end) & ~first(tail.begin), line);
  }
  tail.begin = tail.end = 0;
}

/// Bytes within a line, behind those that wait or instead of them.
inline void add_to_tail(uint8_t* target, const uint8_t* from, int64_t length, MxTileTail& tail) {
  const int64_t begin = static_cast<int64_t>(reinterpret_cast<uintptr_t>(target) & (kVector - 1));
  if (tail.begin == tail.end || tail.target + tail.end != target) {
    write_tail(tail);
    tail.target = target - begin;
    tail.begin = tail.end = begin;
  }
  const __mmask64 mask = first(length);
  _mm512_mask_storeu_epi8(tail.line + begin, mask, _mm512_maskz_loadu_epi8(mask, from));
  tail.end += length;
  if (tail.end == kVector) write_tail(tail);
}

/// As store, but what does not fill a line waits for the copy that goes on there.
inline void store_run(uint8_t* target, const uint8_t* from, int64_t length, MxTileTail& tail) {
  const int64_t to_line = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(target) & (kVector - 1));
  const int64_t head = to_line < length ? to_line : length;
  const int64_t whole = (length - head) & -kVector;
  if (head > 0) add_to_tail(target, from, head, tail);
  store(target + head, from + head, whole);
  if (length > head + whole) add_to_tail(target + head + whole, from + head + whole, length - head - whole, tail);
}

/// What is left of a stream.
class Stream {
 public:
  explicit Stream(const MxTileStream& stream) : source_(stream.source), target_(stream.target), length_(stream.length), step_(stream.step) {}

  /// Up to `most` bytes, as far as the last whole line.
  void write(int64_t most) {
    int64_t length = length_;
    if (length > most) length = most - static_cast<int64_t>(reinterpret_cast<uintptr_t>(target_ + most) & (kVector - 1));
    if (length <= 0) return;
    store(target_, source_, length);
    target_ += length;
    source_ += length;
    length_ -= length;
  }
  void step() { write(step_); }
  void end() { write(length_); }

 private:
  const uint8_t* source_;
  uint8_t* target_;
  int64_t length_;
  int64_t step_;
};

}  // namespace
