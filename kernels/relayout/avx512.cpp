// Tiles in registers of 64 bytes: vpermi2b moves bytes, vgf2p8affineqb moves bits.

#include "kernels/relayout/avx512_runs.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace {

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
};

/// The line that is read later is asked for, into the second cache alone: there more requests are under way at once.
inline void ask(const uint8_t* p) { _mm_prefetch(p, _MM_HINT_T1); }

/// Where a pass reads and writes: in the scratch memory, in lanes of the source or of the target of which all or some bytes are there, in whole lines
/// of the target.
enum From { kFromScratch, kFromLanes64, kFromLanes32, kFromSome64, kFromSome32, kFroms };
enum To { kToScratch, kToLines, kToLanes64, kToLanes32, kToSome64, kToSome32, kTos };

template <bool kWhole>
inline __m512i lane_64(const uint8_t* source, const MxTileLane* lane, int64_t ahead) {
  const uint8_t* p = source + lane->offset;
  ask(p + ahead);
  return kWhole ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi8(lane->there, p);
}
template <bool kWhole>
inline __m256i lane_32(const uint8_t* source, const MxTileLane* lane, int64_t ahead) {
  const uint8_t* p = source + lane->offset;
  ask(p + ahead);
  return kWhole ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)) : _mm256_maskz_loadu_epi8(static_cast<__mmask32>(lane->there), p);
}
inline __m128i lane_16(const uint8_t* source, const MxTileLane* lane, int64_t ahead) {
  const uint8_t* p = source + lane->offset;
  ask(p + ahead);
  return _mm_maskz_loadu_epi8(static_cast<__mmask16>(lane->there), p);
}

/// The lanes of one register.
template <int kLane, bool kWhole>
inline __m512i lanes_at(const MxTileLane* lane, const uint8_t* source, int64_t ahead) {
  if (kLane == 64) return lane_64<kWhole>(source, lane, ahead);
  if (kLane == 32) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(lane_32<kWhole>(source, lane, ahead)), lane_32<kWhole>(source, lane + 1, ahead), 1);
  }
  __m512i value = _mm512_castsi128_si512(lane_16(source, lane, ahead));
  value = _mm512_inserti32x4(value, lane_16(source, lane + 1, ahead), 1);
  value = _mm512_inserti32x4(value, lane_16(source, lane + 2, ahead), 2);
  return _mm512_inserti32x4(value, lane_16(source, lane + 3, ahead), 3);
}

// A masked store fetches its line even where the mask is empty.
inline void store_there(uint8_t* p, uint64_t there, __m512i value) {
  if (there != 0) _mm512_mask_storeu_epi8(p, there, value);
}

template <bool kWhole>
inline void lane_to(uint8_t* target, const MxTileLane* lane, __m256i value) {
  uint8_t* p = target + lane->offset;
  kWhole ? _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), value) : store_there(p, lane->there, _mm512_castsi256_si512(value));
}

template <From kFrom>
inline __m512i fetch(uint32_t at, const uint8_t* scratch, const Ends& ends) {
  if (kFrom == kFromScratch) return _mm512_load_si512(scratch + at);
  constexpr int kLane = kFrom == kFromLanes32 || kFrom == kFromSome32 ? 32 : 64;
  return lanes_at < kLane, kFrom == kFromLanes32 || kFrom == kFromLanes64 > (ends.form->lanes_in + at / kLane, ends.source, ends.ahead);
}

template <To kTo>
inline void give(uint32_t at, __m512i value, uint8_t* scratch, const Ends& ends) {
  if (kTo == kToScratch) {
    _mm512_store_si512(scratch + at, value);
    return;
  }
  if (kTo == kToLanes32 || kTo == kToSome32) {
    const MxTileLane* lane = ends.form->lanes_out + (at - ends.target_at) / (kVector / 2);
    lane_to<kTo == kToLanes32>(ends.target, lane, _mm512_castsi512_si256(value));
    lane_to<kTo == kToLanes32>(ends.target, lane + 1, _mm512_extracti64x4_epi64(value, 1));
    return;
  }
  const MxTileLane* lane = ends.form->lanes_out + (at - ends.target_at) / kVector;
  uint8_t* p = ends.target + lane->offset;
  if (kTo == kToLines) _mm512_stream_si512(reinterpret_cast<__m512i*>(p), value);
  if (kTo == kToLanes64) _mm512_storeu_si512(p, value);
  if (kTo == kToSome64) store_there(p, lane->there, value);
}

/// Each register with the one whose number differs in one bit: the chunks, as qwords, that come from that one.
template <int kBit>
inline void exchange(__m512i* value, __mmask8 chunks) {
  __m512i made[8];
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) made[j] = _mm512_mask_blend_epi64(chunks, value[j], value[j ^ kBit]);
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) value[j] = made[j];
}

template <From kFrom, To kTo>
void blocks_of(const MxTilePass* pass, const uint8_t* tables, uint8_t* scratch, const Ends& ends) {
  constexpr __mmask8 kChunks[3] = {0xAA, 0xCC, 0xF0};
  const __mmask8* chunks = kChunks + 3 - pass->levels;
  for (int64_t i = 0; i < pass->count; ++i) {
    const MxTileBlock* block = pass->blocks + i;
    const uint8_t* sorts = tables + block->sorts;
    __m512i value[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) value[j] = permuted(_mm512_load_si512(sorts + j * kVector), fetch<kFrom>(block->in[j], scratch, ends));
    if (pass->levels > 0) exchange<1>(value, chunks[0]);
    if (pass->levels > 1) exchange<2>(value, chunks[1]);
    if (pass->levels > 2) exchange<4>(value, chunks[2]);
    if (pass->orders != 0) {
      const uint8_t* orders = tables + block->orders;
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) value[j] = permuted(_mm512_load_si512(orders + j * kVector), value[j]);
    }
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) give<kTo>(block->out[j], value[j], scratch, ends);
  }
}

typedef void Blocks(const MxTilePass* pass, const uint8_t* tables, uint8_t* scratch, const Ends& ends);

template <From kFrom>
Blocks* blocks_for(To to) {
  static Blocks* const blocks[kTos] = {blocks_of<kFrom, kToScratch>, blocks_of<kFrom, kToLines>,  blocks_of<kFrom, kToLanes64>,
                                       blocks_of<kFrom, kToLanes32>, blocks_of<kFrom, kToSome64>, blocks_of<kFrom, kToSome32>};
  return blocks[to];
}

Blocks* blocks_for(From from, To to) {
  static decltype(blocks_for<kFromScratch>)* const rows[kFroms] = {blocks_for<kFromScratch>, blocks_for<kFromLanes64>, blocks_for<kFromLanes32>,
                                                                   blocks_for<kFromSome64>, blocks_for<kFromSome32>};
  return rows[from](to);
}

/// The first pass reads as `from` says, the last one writes as `to` says when no finish follows.
void passes(const MxTileCode* code, uint8_t* scratch, const Ends& ends, From from, To to) {
  for (int64_t p = 0; p < code->pass_count; ++p) {
    const bool is_last = p + 1 == code->pass_count && code->finish_count == 0;
    Blocks* const blocks = blocks_for(p == 0 ? from : kFromScratch, is_last ? to : kToScratch);
    blocks(code->passes + p, code->tables, scratch, ends);
  }
}

/// Bytes of the registers that meet, by the index tables of one term.
template <bool kPairs>
inline __m512i met(__m512i a, __m512i index, __m512i b) {
  return kPairs ? _mm512_permutex2var_epi8(a, index, b) : permuted(index, a);
}

template <bool kPairs, To kTo>
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
      b[j] = kPairs ? _mm512_load_si512(scratch + finish[j].b) : a[j];
      sum[j] = _mm512_setzero_si512();
    }
    for (int64_t t = 0; t < code->finish_terms; ++t) {
#pragma GCC unroll 4
      for (int j = 0; j < kGroup; ++j) {
        const uint8_t* table = code->tables + finish[j].tables + t * 2 * kVector;
        const __m512i bytes = met<kPairs>(a[j], _mm512_load_si512(table), b[j]);
        sum[j] = _mm512_xor_si512(sum[j], _mm512_gf2p8affine_epi64_epi8(bytes, _mm512_load_si512(table + kVector), 0));
      }
    }
#pragma GCC unroll 4
    for (int j = 0; j < kGroup; ++j) {
      const __m512i order = _mm512_load_si512(code->tables + finish[j].tables + code->finish_terms * 2 * kVector);
      give<kTo>(finish[j].out, permuted(order, sum[j]), scratch, ends);
    }
  }
}

typedef void Finishes(const MxTileCode* code, uint8_t* scratch, const Ends& ends);

template <bool kPairs>
Finishes* finishes_for(To to) {
  static Finishes* const rows[kTos] = {finishes<kPairs, kToScratch>, finishes<kPairs, kToLines>,  finishes<kPairs, kToLanes64>,
                                       finishes<kPairs, kToLanes32>, finishes<kPairs, kToSome64>, finishes<kPairs, kToSome32>};
  return rows[to];
}

/// Lanes that passes do not read in place.
void gather_16(const MxTileForm* form, const uint8_t* source, int64_t ahead, uint8_t* area, int64_t bytes) {
  constexpr int kLane = 16;
  const MxTileLane* lane = form->lanes_in;
  for (int64_t at = 0; at < bytes; at += kVector, lane += kVector / kLane) {
    _mm512_store_si512(area + at, lanes_at<kLane, false>(lane, source, ahead));
  }
}

void scatter_16(const MxTileForm* form, uint8_t* target, const uint8_t* area, int64_t bytes) {
  constexpr int kLane = 16;
  const MxTileLane* lane = form->lanes_out;
  for (int64_t at = 0; at < bytes; at += kLane, ++lane) {
    const __m128i value = _mm_load_si128(reinterpret_cast<const __m128i*>(area + at));
    if (lane->there != 0) _mm_mask_storeu_epi8(target + lane->offset, static_cast<__mmask16>(lane->there), value);
  }
}

/// Lanes that are whole lines of the target are streamed past the caches.
void stream_lines(const MxTileForm* form, uint8_t* target, const uint8_t* area, int64_t bytes) {
  const MxTileLane* lane = form->lanes_out;
  for (int64_t at = 0; at < bytes; at += kVector, ++lane) {
    const __m512i value = _mm512_load_si512(area + at);
    if (lane->there == ~0ULL) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(target + lane->offset), value);
    } else {
      store_there(target + lane->offset, lane->there, value);
    }
  }
}

void load_all(const MxTileForm* form, const uint8_t* source, int64_t ahead, uint8_t* area) {
  for (int64_t i = 0; i < form->load_count; ++i) {
    const uint8_t* from = source + form->loads[i].offset;
    for (int64_t line = 0; line < form->loads[i].length; line += kVector) ask(from + ahead + line);
    load(area + form->loads[i].at, from, form->loads[i].length);
  }
  for (int64_t i = 0; i < form->fill_count; ++i) fill(area + form->fills[i].at, form->fills[i].content, form->fills[i].length);
}

void store_all(const MxTileForm* form, uint8_t* target, const uint8_t* area) {
  for (int64_t i = 0; i < form->store_count; ++i) {
    const MxTilePiece piece = form->stores[i];
    form->stays != 0 ? keep(target + piece.offset, area + piece.at, piece.length) : store(target + piece.offset, area + piece.at, piece.length);
  }
}

/// What is left of a stream.
class Stream {
 public:
  explicit Stream(const MxTileStream& stream) : rest_(stream) {}

  /// Up to `most` bytes, as far as the last whole line.
  void write(int64_t most) {
    int64_t length = rest_.length;
    if (length > most) length = most - static_cast<int64_t>(reinterpret_cast<uintptr_t>(rest_.target + most) & (kVector - 1));
    if (length <= 0) return;
    store(rest_.target, rest_.source, length);
    rest_.target += length;
    rest_.source += length;
    rest_.length -= length;
  }
  void step() { write(rest_.step); }
  void end() { write(rest_.length); }

 private:
  MxTileStream rest_;
};

From from_of(const MxTileForm* form) {
  if (form->lane_in == 64) return form->whole_in != 0 ? kFromLanes64 : kFromSome64;
  if (form->lane_in == 32) return form->whole_in != 0 ? kFromLanes32 : kFromSome32;
  return kFromScratch;
}

To to_of(const MxTileForm* form) {
  if (form->lane_out == 64) return form->whole_out != 0 ? kToLanes64 : kToSome64;
  if (form->lane_out == 32) return form->whole_out != 0 ? kToLanes32 : kToSome32;
  return kToScratch;
}

void gather(const MxTileForm* form, const uint8_t* source, int64_t ahead, uint8_t* area, int64_t bytes) {
  form->lane_in == 16 ? gather_16(form, source, ahead, area, bytes) : load_all(form, source, ahead, area);
}

void scatter(const MxTileForm* form, uint8_t* target, const uint8_t* area, int64_t bytes) {
  form->lane_out == 16 ? scatter_16(form, target, area, bytes) : store_all(form, target, area);
}

/// Only passes and finishes read and write lanes in place: a tile of steps and mixes has none.
void move_tiles(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch, Stream& stream) {
  const From from = from_of(form);
  const To lanes = to_of(form);
  Ends ends = {form, strip->source, strip->target, strip->ahead, code->target_at};
  for (int64_t n = 0; n < strip->count; ++n, ends.source += strip->source_step, ends.target += strip->target_step) {
    const bool on_lines = form->stays == 0 && form->lines_out != 0 && (reinterpret_cast<uintptr_t>(ends.target) & (kVector - 1)) == 0;
    const To to = !on_lines ? lanes : lanes == kToLanes64 ? kToLines : kToScratch;
    if (from == kFromScratch) gather(form, ends.source, ends.ahead, scratch, code->bytes);
    passes(code, scratch, ends, from, to);
    if (code->finish_count != 0) (code->finish_pairs != 0 ? finishes_for<true>(to) : finishes_for<false>(to))(code, scratch, ends);
    steps(code->gather, code->gather_count, code->tables, scratch);
    mixes(code, scratch);
    steps(code->scatter, code->scatter_count, code->tables, scratch);
    if (to == kToScratch) {
      on_lines ? stream_lines(form, ends.target, scratch + code->target_at, code->bytes)
               : scatter(form, ends.target, scratch + code->target_at, code->bytes);
    }
    stream.step();
  }
}

void copy_tiles(const MxTileForm* form, const MxTileStrip* strip, Stream& stream) {
  const uint8_t* source = strip->source;
  uint8_t* target = strip->target;
  for (int64_t n = 0; n < strip->count; ++n, source += strip->source_step, target += strip->target_step) {
    for (int64_t i = 0; i < form->copy_count; ++i) {
      const uint8_t* from = source + form->copies[i].source;
      for (int64_t line = 0; line < form->copies[i].length; line += kVector) ask(from + strip->ahead + line);
      const MxTileCopy copy = form->copies[i];
      form->stays != 0 ? keep(target + copy.target, from, copy.length) : store(target + copy.target, from, copy.length);
    }
    stream.step();
  }
}

}  // namespace

void mx_tiles_avx512(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch) {
  Stream stream(strip->stream);
  if (form->store_count > 0) move_tiles(code, form, strip, scratch, stream);
  if (form->copy_count > 0) copy_tiles(form, strip, stream);
  stream.end();
  if (strip->count == 0) _mm_sfence();
}
