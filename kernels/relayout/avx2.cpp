// Tiles in registers of 16 bytes: vpshufb moves bytes and looks nibbles up.

#include <immintrin.h>
#include <string.h>

#include "kernels/relayout/strips.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace {

constexpr int64_t kVector = 16;
constexpr int64_t kLine = 32;

inline __m128i get(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
inline void put(uint8_t* p, __m128i value) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), value); }

/// Aligned vectors of the target are streamed past the caches; the rest is stored as usual.
inline void store(uint8_t* target, const uint8_t* from, int64_t length) {
  const int64_t to_line = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(target) & (kLine - 1));
  const int64_t head = to_line < length ? to_line : length;
  if (head > 0) memcpy(target, from, static_cast<size_t>(head));
  int64_t done = head;
  for (; done + kLine <= length; done += kLine) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target + done), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + done)));
  }
  if (done < length) memcpy(target + done, from + done, static_cast<size_t>(length - done));
}

/// Into the caches.
inline void keep(uint8_t* target, const uint8_t* from, int64_t length) {
  int64_t done = 0;
  for (; done + kVector <= length; done += kVector) put(target + done, get(from + done));
  if (done < length) memcpy(target + done, from + done, static_cast<size_t>(length - done));
}

inline void load(uint8_t* at, const uint8_t* from, int64_t length) {
  int64_t done = 0;
  for (; done + kLine <= length; done += kLine) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at + done), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + done)));
  }
  if (done + kVector <= length) {
    put(at + done, get(from + done));
    done += kVector;
  }
  if (done < length) memcpy(at + done, from + done, static_cast<size_t>(length - done));
}

/// Steps and mixes come in groups that do not depend on each other. All of a group is read before any of it is written: one by one the processor
/// would hold every read back until the write before it is known to lie elsewhere.
inline void steps(const MxTileStep* list, int64_t count, const uint8_t* tables, uint8_t* scratch) {
  for (int64_t i = 0; i < count; i += kMxGroup) {
    __m128i value[kMxGroup];
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) {
      const MxTileStep step = list[i + j];
      const uint8_t* index = tables + step.index;
      value[j] = _mm_or_si128(_mm_shuffle_epi8(get(scratch + step.a), get(index)), _mm_shuffle_epi8(get(scratch + step.b), get(index + kVector)));
    }
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) put(scratch + list[i + j].out, value[j]);
  }
}

inline void mixes(const MxTileCode* code, uint8_t* scratch) {
  const __m128i low_mask = _mm_set1_epi8(0x0F);
  for (int64_t i = 0; i < code->mix_count; i += kMxGroup) {
    const MxTileTerm* terms = code->terms + i * code->terms_per_mix;
    __m128i sum[kMxGroup];
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) sum[j] = _mm_setzero_si128();
    for (int64_t t = 0; t < code->terms_per_mix; ++t, terms += kMxGroup) {
#pragma GCC unroll 8
      for (int j = 0; j < kMxGroup; ++j) {
        const uint8_t* nibbles = code->tables + terms[j].matrix + kVector;
        const __m128i value = get(scratch + terms[j].from);
        const __m128i low = _mm_shuffle_epi8(get(nibbles), _mm_and_si128(value, low_mask));
        const __m128i high = _mm_shuffle_epi8(get(nibbles + kVector), _mm_and_si128(_mm_srli_epi16(value, 4), low_mask));
        sum[j] = _mm_xor_si128(sum[j], _mm_xor_si128(low, high));
      }
    }
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) put(scratch + code->mixes[i + j], sum[j]);
  }
}

void move_tiles(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch) {
  for_each_tile(*strip, [&](const uint8_t* source, uint8_t* target) {
    for (int64_t i = 0; i < form->load_count; ++i) load(scratch + form->loads[i].at, source + form->loads[i].offset, form->loads[i].length);
    for (int64_t i = 0; i < form->fill_count; ++i) memset(scratch + form->fills[i].at, form->fills[i].content, form->fills[i].length);
    steps(code->gather, code->gather_count, code->tables, scratch);
    mixes(code, scratch);
    steps(code->scatter, code->scatter_count, code->tables, scratch);
    for (int64_t i = 0; i < form->store_count; ++i) {
      const MxTilePiece piece = form->stores[i];
      const uint8_t* from = scratch + code->target_at + piece.at;
      form->stays != 0 ? keep(target + piece.offset, from, piece.length) : store(target + piece.offset, from, piece.length);
    }
  });
}

void copy_tiles(const MxTileForm* form, const MxTileStrip* strip) {
  for_each_tile(*strip, [&](const uint8_t* source, uint8_t* target) {
    for (int64_t i = 0; i < form->copy_count; ++i) {
      const MxTileCopy copy = form->copies[i];
      form->stays != 0 ? keep(target + copy.target, source + copy.source, copy.length)
                       : store(target + copy.target, source + copy.source, copy.length);
    }
  });
}

}  // namespace

void mx_tiles_avx2(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch) {
  if (strip->count == 0) _mm_sfence();
  if (form->store_count > 0) move_tiles(code, form, strip, scratch);
  if (form->copy_count > 0) copy_tiles(form, strip);
}
