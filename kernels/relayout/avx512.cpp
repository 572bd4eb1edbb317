// Tiles in registers of 64 bytes: vpermi2b moves bytes, vgf2p8affineqb moves bits.

#include <immintrin.h>

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

/// Padding: a few bytes beside each piece, for which a call would take longer than the piece.
inline void fill(uint8_t* at, uint8_t content, int64_t length) {
  const __m512i value = _mm512_set1_epi8(static_cast<char>(content));
  for (; length >= kVector; length -= kVector, at += kVector) _mm512_storeu_si512(at, value);
  if (length > 0) _mm512_mask_storeu_epi8(at, first(length), value);
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

/// A tile's ends in memory.
struct Ends {
  const MxTileForm* form;
  const uint8_t* source;
  uint8_t* target;
  int64_t ahead;
  uint32_t target_at;
  bool streams;  ///< registers of the target are whole lines
};

inline __m256i half(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline __m128i quarter(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

/// `p`, and the line that is read later is asked for.
inline const uint8_t* seen(const uint8_t* p, int64_t ahead) {
  _mm_prefetch(p + ahead, _MM_HINT_T0);
  return p;
}

inline __mmask32 first32(int64_t count) { return static_cast<__mmask32>((1ULL << count) - 1); }
inline __mmask16 first16(int64_t count) { return static_cast<__mmask16>((1ULL << count) - 1); }

/// A register of the source area from memory, lane by lane, of which only a part may be there.
inline __m512i fetch_parts(const Ends& ends, const MxTileLane* lanes) {
  const uint8_t* p = ends.source;
  const auto half_of = [&](const MxTileLane& lane) { return _mm256_maskz_loadu_epi8(first32(lane.length), seen(p + lane.offset, ends.ahead)); };
  const auto quarter_of = [&](const MxTileLane& lane) { return _mm_maskz_loadu_epi8(first16(lane.length), seen(p + lane.offset, ends.ahead)); };
  if (ends.form->lane_in == 64) return _mm512_maskz_loadu_epi8(first(lanes->length), seen(p + lanes->offset, ends.ahead));
  if (ends.form->lane_in == 32) return _mm512_inserti64x4(_mm512_castsi256_si512(half_of(lanes[0])), half_of(lanes[1]), 1);
  __m512i value = _mm512_castsi128_si512(quarter_of(lanes[0]));
  value = _mm512_inserti32x4(value, quarter_of(lanes[1]), 1);
  value = _mm512_inserti32x4(value, quarter_of(lanes[2]), 2);
  return _mm512_inserti32x4(value, quarter_of(lanes[3]), 3);
}

/// The same where all of it is there.
inline __m512i fetch_whole(const Ends& ends, const MxTileLane* lanes) {
  const uint8_t* p = ends.source;
  if (ends.form->lane_in == 64) return _mm512_loadu_si512(seen(p + lanes->offset, ends.ahead));
  if (ends.form->lane_in == 32) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(half(seen(p + lanes[0].offset, ends.ahead))), half(seen(p + lanes[1].offset, ends.ahead)), 1);
  }
  __m512i value = _mm512_castsi128_si512(quarter(seen(p + lanes[0].offset, ends.ahead)));
  value = _mm512_inserti32x4(value, quarter(seen(p + lanes[1].offset, ends.ahead)), 1);
  value = _mm512_inserti32x4(value, quarter(seen(p + lanes[2].offset, ends.ahead)), 2);
  return _mm512_inserti32x4(value, quarter(seen(p + lanes[3].offset, ends.ahead)), 3);
}

/// Lane `at / width`; widths as constants, since a division would take longer than the lane.
inline const MxTileLane* lane_at(const MxTileLane* lanes, int64_t width, uint32_t at) {
  return lanes + (width == 64 ? at / 64 : width == 32 ? at / 32 : at / 16);
}

inline __m512i fetch(const Ends& ends, uint32_t at) {
  const MxTileLane* lanes = lane_at(ends.form->lanes_in, ends.form->lane_in, at);
  return ends.form->whole_in != 0 ? fetch_whole(ends, lanes) : fetch_parts(ends, lanes);
}

/// As much of a register of the target area as has its place in memory.
inline void give_parts(const Ends& ends, const MxTileLane* lanes, __m512i value) {
  uint8_t* p = ends.target;
  if (ends.form->lane_out == 64) {
    if (lanes->length == kVector && ends.streams) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(p + lanes->offset), value);
    } else {
      _mm512_mask_storeu_epi8(p + lanes->offset, first(lanes->length), value);
    }
  } else if (ends.form->lane_out == 32) {
    _mm256_mask_storeu_epi8(p + lanes[0].offset, first32(lanes[0].length), _mm512_castsi512_si256(value));
    _mm256_mask_storeu_epi8(p + lanes[1].offset, first32(lanes[1].length), _mm512_extracti64x4_epi64(value, 1));
  } else {
    _mm_mask_storeu_epi8(p + lanes[0].offset, first16(lanes[0].length), _mm512_castsi512_si128(value));
    _mm_mask_storeu_epi8(p + lanes[1].offset, first16(lanes[1].length), _mm512_extracti32x4_epi32(value, 1));
    _mm_mask_storeu_epi8(p + lanes[2].offset, first16(lanes[2].length), _mm512_extracti32x4_epi32(value, 2));
    _mm_mask_storeu_epi8(p + lanes[3].offset, first16(lanes[3].length), _mm512_extracti32x4_epi32(value, 3));
  }
}

/// The same where all of it has.
inline void give_whole(const Ends& ends, const MxTileLane* lanes, __m512i value) {
  uint8_t* p = ends.target;
  if (ends.form->lane_out == 64) {
    if (ends.streams) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(p + lanes->offset), value);
    } else {
      _mm512_storeu_si512(p + lanes->offset, value);
    }
  } else if (ends.form->lane_out == 32) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + lanes[0].offset), _mm512_castsi512_si256(value));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + lanes[1].offset), _mm512_extracti64x4_epi64(value, 1));
  } else {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + lanes[0].offset), _mm512_castsi512_si128(value));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + lanes[1].offset), _mm512_extracti32x4_epi32(value, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + lanes[2].offset), _mm512_extracti32x4_epi32(value, 2));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + lanes[3].offset), _mm512_extracti32x4_epi32(value, 3));
  }
}

inline void give(const Ends& ends, uint32_t at, __m512i value) {
  const MxTileLane* lanes = lane_at(ends.form->lanes_out, ends.form->lane_out, at);
  ends.form->whole_out != 0 ? give_whole(ends, lanes, value) : give_parts(ends, lanes, value);
}

/// Blocks of a pass, read from the source in place (kFirst) or from the scratch memory, written in place (kLast) or there.
template <int kLevels, bool kFirst, bool kLast>
inline void blocks_of(const MxTilePass& pass, const uint8_t* tables, uint8_t* scratch, const Ends& ends) {
  for (int64_t i = 0; i < pass.count; ++i) {
    const MxTileBlock* block = pass.blocks + i;
    const uint8_t* index = tables + block->indexes;
    __m512i value[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) value[j] = kFirst ? fetch(ends, block->in[j]) : _mm512_load_si512(scratch + block->in[j]);
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
    for (int j = 0; j < 8; ++j) {
      if (kLast) {
        give(ends, block->out[j] - ends.target_at, value[j]);
      } else {
        _mm512_store_si512(scratch + block->out[j], value[j]);
      }
    }
  }
}

template <bool kFirst, bool kLast>
void pass_of(const MxTilePass& pass, const uint8_t* tables, uint8_t* scratch, const Ends& ends) {
  if (pass.levels == 1) return blocks_of<1, kFirst, kLast>(pass, tables, scratch, ends);
  if (pass.levels == 2) return blocks_of<2, kFirst, kLast>(pass, tables, scratch, ends);
  blocks_of<3, kFirst, kLast>(pass, tables, scratch, ends);
}

void passes(const MxTileCode* code, uint8_t* scratch, const Ends& ends) {
  for (int64_t p = 0; p < code->pass_count; ++p) {
    const bool is_first = p == 0 && ends.form->lane_in != 0;
    const bool is_last = p + 1 == code->pass_count && code->finish_count == 0 && ends.form->lane_out != 0;
    const MxTilePass& pass = code->passes[p];
    if (is_first && is_last) {
      pass_of<true, true>(pass, code->tables, scratch, ends);
    } else if (is_first) {
      pass_of<true, false>(pass, code->tables, scratch, ends);
    } else if (is_last) {
      pass_of<false, true>(pass, code->tables, scratch, ends);
    } else {
      pass_of<false, false>(pass, code->tables, scratch, ends);
    }
  }
}

template <bool kLast>
void finishes(const MxTileCode* code, uint8_t* scratch, const Ends& ends) {
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
      const __m512i value = permuted(order, sum[j]);
      if (kLast) {
        give(ends, finish[j].out - ends.target_at, value);
      } else {
        _mm512_store_si512(scratch + finish[j].out, value);
      }
    }
  }
}

void load_all(const MxTileForm* form, const uint8_t* source, int64_t ahead, uint8_t* scratch) {
  for (int64_t i = 0; i < form->load_count; ++i) {
    const uint8_t* from = source + form->loads[i].offset;
    for (int64_t line = 0; line < form->loads[i].length; line += kVector) _mm_prefetch(from + ahead + line, _MM_HINT_T0);
    load(scratch + form->loads[i].at, from, form->loads[i].length);
  }
  for (int64_t i = 0; i < form->fill_count; ++i) fill(scratch + form->fills[i].at, form->fills[i].content, form->fills[i].length);
}

void store_all(const MxTileForm* form, uint8_t* target, const uint8_t* area) {
  for (int64_t i = 0; i < form->store_count; ++i) store(target + form->stores[i].offset, area + form->stores[i].at, form->stores[i].length);
}

/// Whether every register of the target area is in a line of its own, when the tile begins on one.
bool whole_lines(const MxTileCode* code, const MxTileForm* form) {
  bool whole = form->lane_out == kVector;
  for (int64_t i = 0; whole && i < code->bytes / kVector; ++i) whole = form->lanes_out[i].offset % kVector == 0;
  return whole;
}

void move_tiles(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch) {
  const bool lines = whole_lines(code, form);
  Ends ends = {form, strip->source, strip->target, strip->ahead, code->target_at, false};
  for (int64_t n = 0; n < strip->count; ++n, ends.source += strip->source_step, ends.target += strip->target_step) {
    ends.streams = lines && (reinterpret_cast<uintptr_t>(ends.target) & (kVector - 1)) == 0;
    if (form->lane_in == 0) load_all(form, ends.source, strip->ahead, scratch);
    passes(code, scratch, ends);
    if (form->lane_out != 0) {
      finishes<true>(code, scratch, ends);
      continue;
    }
    finishes<false>(code, scratch, ends);
    steps(code->gather, code->gather_count, code->tables, scratch);
    mixes(code, scratch);
    steps(code->scatter, code->scatter_count, code->tables, scratch);
    store_all(form, ends.target, scratch + code->target_at);
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
