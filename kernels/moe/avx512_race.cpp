// How long VDPBF16PS and multiply-adds of 512 bits take here.

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/moe/race.hpp"

namespace mx::kernels::moe {
namespace {

constexpr size_t kSums = 12;  // more than an addition has cycles
constexpr size_t kRounds = 256;

/// Cycles of the quickest of some trials: those in which nothing came between.
template <class Trial>
uint64_t quickest(Trial trial) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 9; ++i) {
    const uint64_t begin = __rdtsc();
    trial();
    const uint64_t cycles = __rdtsc() - begin;
    if (cycles < best) best = cycles;
  }
  return best;
}

/// `kSums` independent chains; the results are looked at by nobody, which the compiler must not know.
template <class Step>
void run_chains(Step step) {
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (size_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (__m512& sum : sums) {
      sum = step(sum);
      asm volatile("" : "+v"(sum));
    }
  }
}

}  // namespace

bool multiply_adds_win_avx512_bf16() {
  __m512i ones = _mm512_set1_epi32(0x3F803F80);
  asm volatile("" : "+v"(ones));
  const __m512bh pairs = reinterpret_cast<__m512bh>(ones);
  const __m512 singles = _mm512_castsi512_ps(ones);
  const uint64_t one_each = quickest([&] { run_chains([&](__m512 sum) { return _mm512_dpbf16_ps(sum, pairs, pairs); }); });
  const uint64_t two_each =
      quickest([&] { run_chains([&](__m512 sum) { return _mm512_fmadd_ps(singles, singles, _mm512_fmadd_ps(singles, singles, sum)); }); });
  return two_each < one_each;
}

}  // namespace mx::kernels::moe
