#pragma once
// Where the registers of a tile come from and go to: scratch memory, or lanes of the source and of the target. For files of the AVX-512 tiers alone.

#include <immintrin.h>
#include <stdint.h>

#include "kernels/relayout/avx512_runs.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace {

/// The all-ones mask keeps g++ 12 from warning of the intrinsic's own undefined operand.
inline __m512i permuted(__m512i index, __m512i value) { return _mm512_maskz_permutexvar_epi8(~0ULL, index, value); }

/// A tile's ends in memory.
struct Ends {
  const MxTileLane* lanes_in;
  const MxTileLane* lanes_out;
  const uint8_t* source;
  const uint8_t* later;  ///< the source of a tile that comes somewhat later
  uint8_t* target;
};

/// The line that is read later is asked for, into the second cache alone: there more requests are under way at once.
inline void ask(const uint8_t* p) { _mm_prefetch(p, _MM_HINT_T1); }

/// Where a pass reads and writes: in the scratch memory, in lanes of the source or of the target of which all or some bytes are there, in lines of
/// the target of which all or some are there whole.
enum From { kFromScratch, kFromLanes64, kFromLanes32, kFromSome64, kFromSome32, kFroms };
enum To { kToScratch, kToLines, kToSomeLines, kToLanes64, kToLanes32, kToSome64, kToSome32, kTos };

constexpr int lane_of(From from) { return from == kFromLanes32 || from == kFromSome32 ? 32 : 64; }
constexpr int lane_of(To to) { return to == kToLanes32 || to == kToSome32 ? 32 : 64; }

template <bool kWhole>
inline __m512i lane_64(const MxTileLane* lane, const Ends& ends) {
  const uint8_t* p = ends.source + lane->offset;
  ask(ends.later + lane->offset);
  return kWhole ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi8(lane->there, p);
}
template <bool kWhole>
inline __m256i lane_32(const MxTileLane* lane, const Ends& ends) {
  const uint8_t* p = ends.source + lane->offset;
  ask(ends.later + lane->offset);
  return kWhole ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)) : _mm256_maskz_loadu_epi8(static_cast<__mmask32>(lane->there), p);
}
inline __m128i lane_16(const MxTileLane* lane, const Ends& ends) {
  ask(ends.later + lane->offset);
  return _mm_maskz_loadu_epi8(static_cast<__mmask16>(lane->there), ends.source + lane->offset);
}

/// The lanes of one register.
template <int kLane, bool kWhole>
inline __m512i lanes_at(const MxTileLane* lane, const Ends& ends) {
  if (kLane == 64) return lane_64<kWhole>(lane, ends);
  if (kLane == 32) return _mm512_inserti64x4(_mm512_castsi256_si512(lane_32<kWhole>(lane, ends)), lane_32<kWhole>(lane + 1, ends), 1);
  __m512i value = _mm512_castsi128_si512(lane_16(lane, ends));
  value = _mm512_inserti32x4(value, lane_16(lane + 1, ends), 1);
  value = _mm512_inserti32x4(value, lane_16(lane + 2, ends), 2);
  return _mm512_inserti32x4(value, lane_16(lane + 3, ends), 3);
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

/// A register of the scratch memory, or the one whose lanes begin at `lane`.
template <From kFrom>
inline __m512i fetch(uint32_t at, const MxTileLane* lane, const uint8_t* scratch, const Ends& ends) {
  if (kFrom == kFromScratch) return _mm512_load_si512(scratch + at);
  constexpr bool kWhole = kFrom == kFromLanes32 || kFrom == kFromLanes64;
  return lanes_at<lane_of(kFrom), kWhole>(lane, ends);
}

/// Likewise to there.
template <To kTo>
inline void give(uint32_t at, const MxTileLane* lane, __m512i value, uint8_t* scratch, uint8_t* target) {
  if (kTo == kToScratch) {
    _mm512_store_si512(scratch + at, value);
    return;
  }
  if (kTo == kToLanes32 || kTo == kToSome32) {
    lane_to<kTo == kToLanes32>(target, lane, _mm512_castsi512_si256(value));
    lane_to<kTo == kToLanes32>(target, lane + 1, _mm512_extracti64x4_epi64(value, 1));
    return;
  }
  uint8_t* p = target + lane->offset;
  const bool is_line = kTo == kToLines || (kTo == kToSomeLines && lane->there == ~0ULL);
  if (is_line) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), value);
  } else if (kTo == kToLanes64) {
    _mm512_storeu_si512(p, value);
  } else {
    store_there(p, lane->there, value);
  }
}

}  // namespace
