// Tiles in registers of 64 bytes: vpermi2b moves bytes, vgf2p8affineqb moves bits.

#include "kernels/relayout/avx512_ends.hpp"
#include "kernels/relayout/avx512_finishes.hpp"
#include "kernels/relayout/avx512_passes.hpp"
#include "kernels/relayout/avx512_runs.hpp"
#include "kernels/relayout/strips.hpp"
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
  const uint8_t* const tables = code->tables;
  const int64_t count = code->terms_per_mix;
  const MxTileTerm* terms = code->terms;
  const uint32_t* mix = code->mixes;
  for (const uint32_t* end = mix + code->mix_count; mix != end; mix += kMxGroup) {
    __m512i sum[kMxGroup];
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) sum[j] = _mm512_setzero_si512();
    for (int64_t t = 0; t < count; ++t, terms += kMxGroup) {
#pragma GCC unroll 8
      for (int j = 0; j < kMxGroup; ++j) {
        const __m512i matrix = _mm512_load_si512(tables + terms[j].matrix);
        sum[j] = _mm512_xor_si512(sum[j], _mm512_gf2p8affine_epi64_epi8(_mm512_load_si512(scratch + terms[j].from), matrix, 0));
      }
    }
#pragma GCC unroll 8
    for (int j = 0; j < kMxGroup; ++j) _mm512_store_si512(scratch + mix[j], sum[j]);
  }
}

/// Lanes that passes do not read in place.
void gather_16(const MxTileForm* form, const uint8_t* source, const uint8_t* later, uint8_t* area, int64_t bytes) {
  const Ends ends = {form->lanes_in, nullptr, source, later, nullptr};
  constexpr int kLane = 16;
  const MxTileLane* lane = ends.lanes_in;
  for (int64_t at = 0; at < bytes; at += kVector, lane += kVector / kLane) _mm512_store_si512(area + at, lanes_at<kLane, false>(lane, ends));
}

void scatter_16(const MxTileForm* form, uint8_t* target, const uint8_t* area, int64_t bytes) {
  constexpr int kLane = 16;
  const MxTileLane* lane = form->lanes_out;
  for (int64_t at = 0; at < bytes; at += kLane, ++lane) {
    const __m128i value = _mm_load_si128(reinterpret_cast<const __m128i*>(area + at));
    if (lane->there != 0) _mm_mask_storeu_epi8(target + lane->offset, static_cast<__mmask16>(lane->there), value);
  }
}

void load_all(const MxTileForm* form, const uint8_t* source, const uint8_t* later, uint8_t* area) {
  const MxTilePiece* piece = form->loads;
  for (const MxTilePiece* end = piece + form->load_count; piece != end; ++piece) {
    const int64_t length = piece->length;
    for (int64_t line = 0; line < length; line += kVector) ask(later + piece->offset + line);
    load(area + piece->at, source + piece->offset, length);
  }
  for (int64_t i = 0; i < form->fill_count; ++i) fill(area + form->fills[i].at, form->fills[i].content, form->fills[i].length);
}

void store_all(const MxTileForm* form, uint8_t* target, const uint8_t* area) {
  for (int64_t i = 0; i < form->store_count; ++i) {
    const MxTilePiece piece = form->stores[i];
    form->stays != 0 ? keep(target + piece.offset, area + piece.at, piece.length) : store(target + piece.offset, area + piece.at, piece.length);
  }
}

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

void gather(const MxTileForm* form, const uint8_t* source, const uint8_t* later, uint8_t* area, int64_t bytes) {
  form->lane_in == 16 ? gather_16(form, source, later, area, bytes) : load_all(form, source, later, area);
}

void scatter(const MxTileForm* form, uint8_t* target, const uint8_t* area, int64_t bytes) {
  form->lane_out == 16 ? scatter_16(form, target, area, bytes) : store_all(form, target, area);
}

/// What a tile goes through, chosen once for a strip. Only passes and finishes read and write lanes in place: a tile of steps and mixes has none.
class Tile {
 public:
  Tile() = default;
  Tile(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip) : code_(code), form_(form), from_(from_of(form)), to_(to_of(form)) {
    if (is_on_lines(form, strip)) to_ = to_ == kToLanes64 ? kToLines : kToSomeLines;
    const bool finishes = code->finish_count != 0;
    if (finishes) finish_ = finishes_for(code->finish_kind, to_);
    const To pass_to = finishes ? kToScratch : to_;
    first_ = blocks_for(from_, code->pass_count == 1 ? pass_to : kToScratch);
    last_ = blocks_for(kFromScratch, pass_to);
  }

  void move(const uint8_t* source, const uint8_t* later, uint8_t* target, uint8_t* scratch) const {
    if (from_ == kFromScratch) gather(form_, source, later, scratch, code_->bytes);
    code_->pass_count != 0 ? pass(source, later, target, scratch) : mix(scratch);
    if (to_ == kToScratch) scatter(form_, target, scratch + code_->target_at, code_->bytes);
  }

 private:
  static bool is_on_lines(const MxTileForm* form, const MxTileStrip* strip) {
    if (form->stays != 0 || form->lines_out == 0) return false;
    uintptr_t bits = reinterpret_cast<uintptr_t>(strip->target) | static_cast<uintptr_t>(strip->target_step);
    for (int64_t i = 0; i < strip->place_count; ++i) bits |= static_cast<uintptr_t>(strip->places[i].target);
    return (bits & (kVector - 1)) == 0;
  }

  void pass(const uint8_t* source, const uint8_t* later, uint8_t* target, uint8_t* scratch) const {
    const MxTilePass* pass = code_->passes;
    const MxTilePass* const last = pass + code_->pass_count - 1;
    first_(pass, code_->tables, scratch, form_, source, later, target);
    while (pass != last) {
      ++pass;
      (pass == last ? last_ : between_)(pass, code_->tables, scratch, form_, source, later, target);
    }
    if (finish_ != nullptr) finish_(code_, form_->lanes_out, scratch, target);
  }

  void mix(uint8_t* scratch) const {
    steps(code_->gather, code_->gather_count, code_->tables, scratch);
    mixes(code_, scratch);
    steps(code_->scatter, code_->scatter_count, code_->tables, scratch);
  }

  const MxTileCode* code_ = nullptr;
  const MxTileForm* form_ = nullptr;
  From from_ = kFromScratch;
  To to_ = kToScratch;
  Blocks* first_ = nullptr;
  Blocks* between_ = blocks_of<kFromScratch, kToScratch>;
  Blocks* last_ = nullptr;
  Finishes* finish_ = nullptr;
};

void move_tiles(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch, Stream& stream) {
  const Tile tile(code, form, strip);
  for_each_tile(*strip, [&](const uint8_t* source, uint8_t* target) {
    tile.move(source, source + strip->ahead, target, scratch);
    stream.step();
  });
}

void copy_tiles(const MxTileForm* form, const MxTileStrip* strip, Stream& stream) {
  for_each_tile(*strip, [&](const uint8_t* source, uint8_t* target) {
    for (int64_t i = 0; i < form->copy_count; ++i) {
      const uint8_t* from = source + form->copies[i].source;
      for (int64_t line = 0; line < form->copies[i].length; line += kVector) ask(from + strip->ahead + line);
      const MxTileCopy copy = form->copies[i];
      form->stays != 0 ? keep(target + copy.target, from, copy.length) : store_run(target + copy.target, from, copy.length, *strip->tail);
    }
    stream.step();
  });
}

}  // namespace

void mx_tiles_avx512(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch) {
  Stream stream(strip->stream);
  if (form->store_count > 0) move_tiles(code, form, strip, scratch, stream);
  if (form->copy_count > 0) copy_tiles(form, strip, stream);
  stream.end();
  if (strip->count != 0) return;
  write_tail(*strip->tail);
  _mm_sfence();
}
