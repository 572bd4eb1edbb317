#pragma once
// Passes over the registers of a tile (Block in butterfly.hpp). For files of the AVX-512 tiers alone.

#include <immintrin.h>
#include <stdint.h>

#include "kernels/relayout/avx512_ends.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace {

/// Each register with the one whose number differs in one bit: the chunks, as qwords, that come from that one.
template <int kBit>
[[gnu::always_inline]] inline void exchange(__m512i* value, __mmask8 chunks) {
  __m512i made[8];
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) made[j] = _mm512_mask_blend_epi64(chunks, value[j], value[j ^ kBit]);
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) value[j] = made[j];
}

/// The registers of a block, ordered where there are `orders`, to where they belong.
template <int kCount, To kTo>
[[gnu::always_inline]] inline void leave(__m512i* value, const MxTileBlock* block, const uint8_t* orders, const MxTileLane* lanes, uint8_t* scratch,
                                         const Ends& ends) {
  if (orders != nullptr) {
#pragma GCC unroll 16
    for (int j = 0; j < kCount; ++j) value[j] = permuted(_mm512_load_si512(orders + j * kVector), value[j]);
  }
#pragma GCC unroll 16
  for (int j = 0; j < kCount; ++j) give<kTo>(block->out[j], lanes + j * (kVector / lane_of(kTo)), value[j], scratch, ends.target);
}

/// Up to three levels over eight registers.
template <From kFrom, To kTo>
[[gnu::always_inline]] inline void eights(const MxTilePass* pass, const uint8_t* tables, uint8_t* scratch, const Ends& ends) {
  constexpr __mmask8 kChunks[3] = {0xAA, 0xCC, 0xF0};
  const int64_t levels = pass->levels;
  const int64_t orders_too = pass->orders;
  const __mmask8* chunks = kChunks + 3 - levels;
  const MxTileBlock* block = pass->blocks;
  constexpr int kLanesIn = kVector / lane_of(kFrom);
  constexpr int kLanesOut = kVector / lane_of(kTo);
  const MxTileLane* in = ends.lanes_in;
  const MxTileLane* out = ends.lanes_out;
  uint32_t sorted_by = block->sorts;
  __m512i sorts[8];
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) sorts[j] = _mm512_load_si512(tables + sorted_by + j * kVector);
  for (const MxTileBlock* end = block + pass->count; block != end; ++block) {
    if (block->sorts != sorted_by) {
      sorted_by = block->sorts;
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) sorts[j] = _mm512_load_si512(tables + sorted_by + j * kVector);
    }
    __m512i value[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) value[j] = permuted(sorts[j], fetch<kFrom>(block->in[j], in + j * kLanesIn, scratch, ends));
    if (levels > 0) exchange<1>(value, chunks[0]);
    if (levels > 1) exchange<2>(value, chunks[1]);
    if (levels > 2) exchange<4>(value, chunks[2]);
    leave<8, kTo>(value, block, orders_too != 0 ? tables + block->orders : nullptr, out, scratch, ends);
    in += 8 * kLanesIn;
    out += 8 * kLanesOut;
  }
}

/// Of 16 registers: those with 0 at bit `kBit` of their number, and the ones with 1 there, exchange chunks of dwords.
template <int kBit>
[[gnu::always_inline]] inline void exchange_16(__m512i* value, __mmask16 chunks) {
#pragma GCC unroll 16
  for (int j = 0; j < 16; ++j) {
    if ((j & kBit) != 0) continue;
    const __m512i low = value[j];
    value[j] = _mm512_mask_blend_epi32(chunks, low, value[j | kBit]);
    value[j | kBit] = _mm512_mask_blend_epi32(chunks, value[j | kBit], low);
  }
}

/// Four levels over sixteen registers.
template <From kFrom, To kTo>
[[gnu::always_inline]] inline void sixteens(const MxTilePass* pass, const uint8_t* tables, uint8_t* scratch, const Ends& ends) {
  const int64_t orders_too = pass->orders;
  const MxTileBlock* block = pass->blocks;
  constexpr int kLanesIn = kVector / lane_of(kFrom);
  constexpr int kLanesOut = kVector / lane_of(kTo);
  const MxTileLane* in = ends.lanes_in;
  const MxTileLane* out = ends.lanes_out;
  for (const MxTileBlock* end = block + pass->count; block != end; ++block) {
    const uint8_t* sorts = tables + block->sorts;
    __m512i value[16];
#pragma GCC unroll 16
    for (int j = 0; j < 16; ++j)
      value[j] = permuted(_mm512_load_si512(sorts + j * kVector), fetch<kFrom>(block->in[j], in + j * kLanesIn, scratch, ends));
    exchange_16<1>(value, 0xAAAA);
    exchange_16<2>(value, 0xCCCC);
    exchange_16<4>(value, 0xF0F0);
    exchange_16<8>(value, 0xFF00);
    leave<16, kTo>(value, block, orders_too != 0 ? tables + block->orders : nullptr, out, scratch, ends);
    in += 16 * kLanesIn;
    out += 16 * kLanesOut;
  }
}

/// A tile's ends come as values one by one: a structure that is stored field by field and loaded as a whole would wait for all stores before it.
template <From kFrom, To kTo>
void blocks_of(const MxTilePass* pass, const uint8_t* tables, uint8_t* scratch, const MxTileForm* form, const uint8_t* source, const uint8_t* later,
               uint8_t* target) {
  const Ends ends = {form->lanes_in, form->lanes_out, source, later, target};
  pass->levels == 4 ? sixteens<kFrom, kTo>(pass, tables, scratch, ends) : eights<kFrom, kTo>(pass, tables, scratch, ends);
}

typedef void Blocks(const MxTilePass* pass, const uint8_t* tables, uint8_t* scratch, const MxTileForm* form, const uint8_t* source,
                    const uint8_t* later, uint8_t* target);

template <From kFrom>
Blocks* blocks_for(To to) {
  static Blocks* const blocks[kTos] = {blocks_of<kFrom, kToScratch>, blocks_of<kFrom, kToLines>,   blocks_of<kFrom, kToSomeLines>,
                                       blocks_of<kFrom, kToLanes64>, blocks_of<kFrom, kToLanes32>, blocks_of<kFrom, kToSome64>,
                                       blocks_of<kFrom, kToSome32>};
  return blocks[to];
}

inline Blocks* blocks_for(From from, To to) {
  static decltype(blocks_for<kFromScratch>)* const rows[kFroms] = {blocks_for<kFromScratch>, blocks_for<kFromLanes64>, blocks_for<kFromLanes32>,
                                                                   blocks_for<kFromSome64>, blocks_for<kFromSome32>};
  return rows[from](to);
}

}  // namespace
