// Tiles byte by byte.

#include <string.h>

#include "kernels/relayout/strips.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace {

void move_tile(const MxTileCode* code, const uint8_t* source, uint8_t* target) {
  for (uint32_t i = 0; i < code->bytes; ++i) {
    uint8_t value = 0;
    for (uint32_t p = code->part_starts[i]; p < code->part_starts[i + 1]; ++p) {
      const MxTilePart part = code->parts[p];
      value = static_cast<uint8_t>(value ^ code->tables[part.table + source[part.source]]);
    }
    target[i] = value;
  }
}

size_t length_of(int64_t length) { return static_cast<size_t>(length); }

}  // namespace

void mx_tiles_portable(const MxTileCode* code, const MxTileForm* form, const MxTileStrip* strip, uint8_t* scratch) {
  for_each_tile(*strip, [&](const uint8_t* source, uint8_t* target) {
    for (int64_t i = 0; i < form->copy_count; ++i) {
      memcpy(target + form->copies[i].target, source + form->copies[i].source, length_of(form->copies[i].length));
    }
    if (form->store_count == 0) return;
    for (int64_t i = 0; i < form->load_count; ++i) memcpy(scratch + form->loads[i].at, source + form->loads[i].offset, form->loads[i].length);
    for (int64_t i = 0; i < form->fill_count; ++i) memset(scratch + form->fills[i].at, form->fills[i].content, form->fills[i].length);
    if (code->part_starts != nullptr) move_tile(code, scratch, scratch + code->target_at);
    for (int64_t i = 0; i < form->store_count; ++i) {
      memcpy(target + form->stores[i].offset, scratch + code->target_at + form->stores[i].at, form->stores[i].length);
    }
  });
}
