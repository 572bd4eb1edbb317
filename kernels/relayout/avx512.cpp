// Tiles in registers of 64 bytes: vpermi2b moves bytes, vgf2p8affineqb moves bits.

#include <immintrin.h>
#include <string.h>

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

inline void load(uint8_t* at, const uint8_t* from, int64_t length) {
  for (; length >= kVector; length -= kVector, at += kVector, from += kVector) _mm512_storeu_si512(at, _mm512_loadu_si512(from));
  if (length > 0) _mm512_storeu_si512(at, _mm512_maskz_loadu_epi8(first(length), from));
}

/// Steps and mixes come in groups that do not depend on each other. All of a group is read before any of it is written: one by one the processor
/// would hold every read back until the write before it is known to lie elsewhere.
inline void steps(const MxTileStep* list, int64_t count, const uint8_t* tables, uint8_t* scratch) {
  for (int64_t i = 0; i < count; i += kMxGroup) {
    __m512i value[kMxGroup];
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) {
      const MxTileStep step = list[i + j];
      const __m512i index = _mm512_load_si512(tables + step.index);
      value[j] = _mm512_permutex2var_epi8(_mm512_load_si512(scratch + step.a), index, _mm512_load_si512(scratch + step.b));
    }
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) _mm512_store_si512(scratch + list[i + j].out, value[j]);
  }
}

inline void mixes(const MxTileCode* code, uint8_t* scratch) {
  for (int64_t i = 0; i < code->mix_count; i += kMxGroup) {
    const MxTileTerm* terms = code->terms + i * code->terms_per_mix;
    __m512i sum[kMxGroup];
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) sum[j] = _mm512_setzero_si512();
    for (int64_t t = 0; t < code->terms_per_mix; ++t, terms += kMxGroup) {
#pragma GCC unroll 8
      for (int j = 0; j < kMxGroup; ++j) {
        const __m512i matrix = _mm512_load_si512(code->tables + terms[j].matrix);
        sum[j] = _mm512_xor_si512(sum[j], _mm512_gf2p8affine_epi64_epi8(_mm512_load_si512(scratch + terms[j].from), matrix, 0));
      }
    }
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) _mm512_store_si512(scratch + code->mixes[i + j], sum[j]);
  }
}

/// The all-ones mask keeps g++ 12 from warning of the intrinsic's own undefined operand.
inline __m512i permuted(__m512i index, __m512i value) { return _mm512_maskz_permutexvar_epi8(~0ULL, index, value); }

template <int kLevels>
inline void block_of(const MxTileBlock* block, const uint8_t* tables, uint8_t* scratch) {
  __m512i value[8];
  const uint8_t* index = tables + block->indexes;
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) value[j] = _mm512_load_si512(scratch + block->in[j]);
#pragma GCC unroll 3
  for (int level = 0; level < kLevels; ++level) {
    const int size = (1 << kLevels) >> level;
    __m512i made[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      const int pair = j / size * size + 2 * (j % (size / 2));
      made[j] = _mm512_permutex2var_epi8(value[pair], _mm512_load_si512(index + (level * 8 + j) * kVector), value[pair + 1]);
    }
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) value[j] = made[j];
  }
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) _mm512_store_si512(scratch + block->out[j], value[j]);
}

inline void passes(const MxTileCode* code, uint8_t* scratch) {
  for (int64_t p = 0; p < code->pass_count; ++p) {
    const MxTilePass pass = code->passes[p];
    if (pass.levels == 1) {
      for (int64_t i = 0; i < pass.count; ++i) block_of<1>(pass.blocks + i, code->tables, scratch);
    } else if (pass.levels == 2) {
      for (int64_t i = 0; i < pass.count; ++i) block_of<2>(pass.blocks + i, code->tables, scratch);
    } else {
      for (int64_t i = 0; i < pass.count; ++i) block_of<3>(pass.blocks + i, code->tables, scratch);
    }
  }
}

inline void finishes(const MxTileCode* code, uint8_t* scratch) {
  constexpr int kGroup = 4;
  for (int64_t i = 0; i < code->finish_count; i += kGroup) {
    const MxTileFinish* finish = code->finishes + i;
    __m512i a[kGroup];
    __m512i b[kGroup];
    __m512i sum[kGroup];
#pragma GCC unroll 4
    for (int j = 0; j < kGroup; ++j) {
      a[j] = _mm512_load_si512(scratch + finish[j].a);
      b[j] = _mm512_load_si512(scratch + finish[j].b);
      sum[j] = _mm512_setzero_si512();
    }
    for (int64_t t = 0; t < code->finish_terms; ++t) {
#pragma GCC unroll 4
      for (int j = 0; j < kGroup; ++j) {
        const uint8_t* table = code->tables + finish[j].tables + t * 2 * kVector;
        const __m512i bytes = _mm512_permutex2var_epi8(a[j], _mm512_load_si512(table), b[j]);
        sum[j] = _mm512_xor_si512(sum[j], _mm512_gf2p8affine_epi64_epi8(bytes, _mm512_load_si512(table + kVector), 0));
      }
    }
#pragma GCC unroll 4
    for (int j = 0; j < kGroup; ++j) {
      const __m512i order = _mm512_load_si512(code->tables + finish[j].tables + code->finish_terms * 2 * kVector);
      _mm512_store_si512(scratch + finish[j].out, permuted(order, sum[j]));
    }
  }
}

void move_tiles(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch) {
  const uint8_t* source = strip->source;
  uint8_t* target = strip->target;
  for (int64_t n = 0; n < strip->count; ++n, source += strip->source_step, target += strip->target_step) {
    for (int64_t i = 0; i < form->load_count; ++i) {
      const uint8_t* from = source + form->loads[i].offset;
      for (int64_t line = 0; line < form->loads[i].length; line += kVector) _mm_prefetch(from + strip->ahead + line, _MM_HINT_T0);
      load(scratch + form->loads[i].at, from, form->loads[i].length);
    }
    for (int64_t i = 0; i < form->fill_count; ++i) memset(scratch + form->fills[i].at, form->fills[i].content, form->fills[i].length);
    passes(code, scratch);
    finishes(code, scratch);
    steps(code->gather, code->gather_count, code->tables, scratch);
    mixes(code, scratch);
    steps(code->scatter, code->scatter_count, code->tables, scratch);
    for (int64_t i = 0; i < form->store_count; ++i) {
      store(target + form->stores[i].offset, scratch + code->target_at + form->stores[i].at, form->stores[i].length);
    }
  }
}

void copy_tiles(const MxTileForm* form, const MxTileStrip* strip) {
  const uint8_t* source = strip->source;
  uint8_t* target = strip->target;
  for (int64_t n = 0; n < strip->count; ++n, source += strip->source_step, target += strip->target_step) {
    for (int64_t i = 0; i < form->copy_count; ++i) {
      const uint8_t* from = source + form->copies[i].source;
      for (int64_t line = 0; line < form->copies[i].length; line += kVector) _mm_prefetch(from + strip->ahead + line, _MM_HINT_T0);
      store(target + form->copies[i].target, from, form->copies[i].length);
    }
  }
}

}  // namespace

void mx_tiles_avx512(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch) {
  if (strip->count == 0) _mm_sfence();
  if (form->store_count > 0) move_tiles(code, form, strip, scratch);
  if (form->copy_count > 0) copy_tiles(form, strip);
}
