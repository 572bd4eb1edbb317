// Tiles in the 128-bit registers of AArch64: tbl moves bytes and looks nibbles up.

#include <arm_neon.h>
#include <string.h>

#include "kernels/relayout/strips.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace {

constexpr int64_t kVector = 16;

/// No byte more than `length`. Stores past the caches are hints on AArch64, for which g++ has no intrinsic.
inline void move(uint8_t* to, const uint8_t* from, int64_t length) {
  int64_t done = 0;
  for (; done + kVector <= length; done += kVector) vst1q_u8(to + done, vld1q_u8(from + done));
  if (done < length) memcpy(to + done, from + done, static_cast<size_t>(length - done));
}

/// Steps and mixes come in groups that do not depend on each other. All of a group is read before any of it is written. An index that lies outside
/// of its table takes 0.
inline void steps(const MxTileStep* list, int64_t count, const uint8_t* tables, uint8_t* scratch) {
  for (int64_t i = 0; i < count; i += kMxGroup) {
    uint8x16_t value[kMxGroup];
    for (int j = 0; j < kMxGroup; ++j) {
      const MxTileStep step = list[i + j];
      const uint8_t* index = tables + step.index;
      value[j] = vorrq_u8(vqtbl1q_u8(vld1q_u8(scratch + step.a), vld1q_u8(index)), vqtbl1q_u8(vld1q_u8(scratch + step.b), vld1q_u8(index + kVector)));
    }
    for (int j = 0; j < kMxGroup; ++j) vst1q_u8(scratch + list[i + j].out, value[j]);
  }
}

inline void mixes(const MxTileCode* code, uint8_t* scratch) {
  for (int64_t i = 0; i < code->mix_count; i += kMxGroup) {
    const MxTileTerm* terms = code->terms + i * code->terms_per_mix;
    uint8x16_t sum[kMxGroup];
    for (int j = 0; j < kMxGroup; ++j) sum[j] = vdupq_n_u8(0);
    for (int64_t t = 0; t < code->terms_per_mix; ++t, terms += kMxGroup) {
      for (int j = 0; j < kMxGroup; ++j) {
        const uint8_t* nibbles = code->tables + terms[j].matrix + kVector;
        const uint8x16_t value = vld1q_u8(scratch + terms[j].from);
        const uint8x16_t low = vqtbl1q_u8(vld1q_u8(nibbles), vandq_u8(value, vdupq_n_u8(0x0F)));
        const uint8x16_t high = vqtbl1q_u8(vld1q_u8(nibbles + kVector), vshrq_n_u8(value, 4));
        sum[j] = veorq_u8(sum[j], veorq_u8(low, high));
      }
    }
    for (int j = 0; j < kMxGroup; ++j) vst1q_u8(scratch + code->mixes[i + j], sum[j]);
  }
}

void move_tile(const MxTileCode* code, const MxTileForm* form, const uint8_t* source, uint8_t* target, uint8_t* scratch) {
  for (int64_t i = 0; i < form->load_count; ++i) move(scratch + form->loads[i].at, source + form->loads[i].offset, form->loads[i].length);
  for (int64_t i = 0; i < form->fill_count; ++i) memset(scratch + form->fills[i].at, form->fills[i].content, form->fills[i].length);
  steps(code->gather, code->gather_count, code->tables, scratch);
  mixes(code, scratch);
  steps(code->scatter, code->scatter_count, code->tables, scratch);
  for (int64_t i = 0; i < form->store_count; ++i) {
    const MxTilePiece piece = form->stores[i];
    move(target + piece.offset, scratch + code->target_at + piece.at, piece.length);
  }
}

}  // namespace

void mx_tiles_neon(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch) {
  for_each_tile(*strip, [&](const uint8_t* source, uint8_t* target) {
    if (form->store_count > 0) move_tile(code, form, source, target, scratch);
    for (int64_t i = 0; i < form->copy_count; ++i) {
      const MxTileCopy copy = form->copies[i];
      move(target + copy.target, source + copy.source, copy.length);
    }
  });
}
