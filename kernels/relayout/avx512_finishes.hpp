#pragma once
// What is done with the registers that the passes of a tile made (MxTileFinishKind). For files of the AVX-512 tiers alone.

#include <immintrin.h>
#include <stdint.h>

#include "kernels/relayout/avx512_ends.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace {

/// Bytes of the registers that meet, and the matrices they go through, by the tables of one term.
template <bool kPairs>
inline __m512i term(__m512i a, __m512i b, const uint8_t* tables) {
  const __m512i index = _mm512_load_si512(tables);
  const __m512i bytes = kPairs ? _mm512_permutex2var_epi8(a, index, b) : permuted(index, a);
  return _mm512_gf2p8affine_epi64_epi8(bytes, _mm512_load_si512(tables + kVector), 0);
}

template <bool kPairs, To kTo>
void matrices(const MxTileCode* code, const MxTileLane* lanes, uint8_t* scratch, uint8_t* target) {
  constexpr int kLanes = kVector / lane_of(kTo);
  const int64_t terms = code->finish_terms;
  const MxTileFinish* finish = code->finishes;
  for (const MxTileFinish* end = finish + code->finish_count; finish != end; finish += kMxFinishGroup) {
    const uint8_t* tables[kMxFinishGroup];
    __m512i a[kMxFinishGroup];
    __m512i b[kMxFinishGroup];
    __m512i sum[kMxFinishGroup];
#pragma GCC unroll 4
    for (int j = 0; j < kMxFinishGroup; ++j) {
      tables[j] = code->tables + finish[j].tables;
      a[j] = _mm512_load_si512(scratch + finish[j].a);
      b[j] = kPairs ? _mm512_load_si512(scratch + finish[j].b) : a[j];
      sum[j] = term<kPairs>(a[j], b[j], tables[j]);
    }
    for (int64_t t = 1; t < terms; ++t) {
#pragma GCC unroll 4
      for (int j = 0; j < kMxFinishGroup; ++j) {
        tables[j] += 2 * kVector;
        sum[j] = _mm512_xor_si512(sum[j], term<kPairs>(a[j], b[j], tables[j]));
      }
    }
#pragma GCC unroll 4
    for (int j = 0; j < kMxFinishGroup; ++j) sum[j] = permuted(_mm512_load_si512(tables[j] + 2 * kVector), sum[j]);
#pragma GCC unroll 4
    for (int j = 0; j < kMxFinishGroup; ++j) give<kTo>(finish[j].out, lanes + j * kLanes, sum[j], scratch, target);
    lanes += kMxFinishGroup * kLanes;
  }
}

/// `mask` ? a : b, bit by bit.
inline __m512i chosen(__m512i mask, __m512i a, __m512i b) { return _mm512_ternarylogic_epi64(mask, a, b, 0xCA); }

template <To kTo>
void swaps(const MxTileCode* code, const MxTileLane* lanes, uint8_t* scratch, uint8_t* target) {
  // The matrix that exchanges the halves of a byte.
  const __m512i halves = _mm512_set1_epi64(0x1020408001020408);
  constexpr int kLanes = kVector / lane_of(kTo);
  const MxTileFinish* finish = code->finishes;
  for (const MxTileFinish* end = finish + code->finish_count; finish != end; finish += kMxFinishGroup) {
    __m512i made[kMxFinishGroup];
#pragma GCC unroll 4
    for (int j = 0; j < kMxFinishGroup; ++j) {
      const uint8_t* tables = code->tables + finish[j].tables;
      const __m512i a = _mm512_load_si512(scratch + finish[j].a);
      const __m512i partner = permuted(_mm512_load_si512(tables), a);
      const __m512i crossed = _mm512_gf2p8affine_epi64_epi8(a, halves, 0);
      made[j] = permuted(_mm512_load_si512(tables + 2 * kVector), chosen(_mm512_load_si512(tables + kVector), partner, crossed));
    }
#pragma GCC unroll 4
    for (int j = 0; j < kMxFinishGroup; ++j) give<kTo>(finish[j].out, lanes + j * kLanes, made[j], scratch, target);
    lanes += kMxFinishGroup * kLanes;
  }
}

template <To kTo>
void twins(const MxTileCode* code, const MxTileLane* lanes, uint8_t* scratch, uint8_t* target) {
  const __m512i low_half = _mm512_set1_epi8(0x0F);
  constexpr int kLanes = kVector / lane_of(kTo);
  const MxTileFinish* finish = code->finishes;
  for (const MxTileFinish* end = finish + code->finish_count; finish != end; finish += kMxFinishGroup) {
    __m512i first[kMxFinishGroup];
    __m512i second[kMxFinishGroup];
#pragma GCC unroll 4
    for (int j = 0; j < kMxFinishGroup; ++j) {
      const uint8_t* tables = code->tables + finish[j].tables;
      const __m512i a = _mm512_load_si512(scratch + finish[j].a);
      const __m512i b = _mm512_load_si512(scratch + finish[j].b);
      const __m512i low = _mm512_permutex2var_epi8(a, _mm512_load_si512(tables), b);
      const __m512i high = _mm512_permutex2var_epi8(a, _mm512_load_si512(tables + kVector), b);
      first[j] = chosen(low_half, low, _mm512_slli_epi16(high, 4));
      second[j] = chosen(low_half, _mm512_srli_epi16(low, 4), high);
    }
#pragma GCC unroll 4
    for (int j = 0; j < kMxFinishGroup; ++j) {
      give<kTo>(finish[j].out, lanes + 2 * j * kLanes, first[j], scratch, target);
      give<kTo>(finish[j].twin, lanes + (2 * j + 1) * kLanes, second[j], scratch, target);
    }
    lanes += 2 * kMxFinishGroup * kLanes;
  }
}

typedef void Finishes(const MxTileCode* code, const MxTileLane* lanes, uint8_t* scratch, uint8_t* target);

template <To kTo>
Finishes* finishes_of(MxTileFinishKind kind) {
  switch (kind) {
    case kMxMatrices: return matrices<false, kTo>;
    case kMxPairs: return matrices<true, kTo>;
    case kMxSwap: return swaps<kTo>;
    case kMxTwins: break;
  }
  return twins<kTo>;
}

inline Finishes* finishes_for(MxTileFinishKind kind, To to) {
  static decltype(finishes_of<kToScratch>)* const rows[kTos] = {finishes_of<kToScratch>, finishes_of<kToLines>,   finishes_of<kToSomeLines>,
                                                                finishes_of<kToLanes64>, finishes_of<kToLanes32>, finishes_of<kToSome64>,
                                                                finishes_of<kToSome32>};
  return rows[to](kind);
}

}  // namespace
