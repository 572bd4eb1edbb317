#pragma once
// Lines of the target joined from halves of registers of a stage (MxTileJoin). For files of the AVX-512 tiers alone.

#include <immintrin.h>
#include <stdint.h>

#include "kernels/relayout/avx512_runs.hpp"
#include "kernels/relayout/tile_code.hpp"

namespace {

inline __m512i halves(const uint8_t* low, const uint8_t* high) {
  const __m256i first = _mm256_load_si256(reinterpret_cast<const __m256i*>(low));
  return _mm512_inserti64x4(_mm512_castsi256_si512(first), _mm256_load_si256(reinterpret_cast<const __m256i*>(high)), 1);
}

/// So many lines of a stage. `kLines`: the target begins on a line.
template <bool kLines>
inline void join(const MxTileJoin* join, int64_t count, const uint8_t* tables, const uint8_t* stage, uint8_t* target) {
  for (const MxTileJoin* end = join + count; join != end; ++join) {
    const __m512i low = halves(stage + join->halves[0], stage + join->halves[1]);
    const __m512i high = halves(stage + join->halves[2], stage + join->halves[3]);
    const __m512i line = _mm512_permutex2var_epi8(low, _mm512_load_si512(tables + join->index), high);
    uint8_t* const p = target + join->target;
    kLines ? _mm512_stream_si512(reinterpret_cast<__m512i*>(p), line) : _mm512_storeu_si512(p, line);
  }
}

}  // namespace
