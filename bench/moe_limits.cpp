#include "bench/moe_limits.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mx::bench {
namespace {

/// Processor time of this thread: what others run meanwhile on the same core does not count.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

constexpr std::size_t kBytes = std::size_t{256} << 20;

#if defined(__x86_64__)

/// Twelve sums and two factors, all of which fit the registers of every x86-64; a sum waits for its last product for six cycles at most.
constexpr double kSums = 12;
constexpr std::size_t kRounds = 200000;

// In assembly, since a compiler would see that all the factors are zero.
#define MXACT_TWELVE(OP, R)                                                                                                                   \
  OP " %%" R "14, %%" R "15, %%" R "0\n" OP " %%" R "14, %%" R "15, %%" R "1\n" OP " %%" R "14, %%" R "15, %%" R "2\n" OP " %%" R "14, %%" R  \
     "15, %%" R "3\n" OP " %%" R "14, %%" R "15, %%" R "4\n" OP " %%" R "14, %%" R "15, %%" R "5\n" OP " %%" R "14, %%" R "15, %%" R "6\n" OP \
     " %%" R "14, %%" R "15, %%" R "7\n" OP " %%" R "14, %%" R "15, %%" R "8\n" OP " %%" R "14, %%" R "15, %%" R "9\n" OP " %%" R "14, %%" R  \
     "15, %%" R "10\n" OP " %%" R "14, %%" R "15, %%" R "11\n"
#define MXACT_PEAK(NAME, OP, R)                                                                                                               \
  void NAME() {                                                                                                                               \
    std::size_t rounds = kRounds;                                                                                                             \
    asm volatile("vxorps %%ymm14, %%ymm14, %%ymm14\nvxorps %%ymm15, %%ymm15, %%ymm15\n1:\n" MXACT_TWELVE(OP, R) "dec %0\njnz 1b\n"            \
                 : "+r"(rounds)                                                                                                               \
                 :                                                                                                                            \
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm14", "xmm15"); \
  }
MXACT_PEAK(bf16_dots, "vdpbf16ps", "zmm")
MXACT_PEAK(int8_dots, "vpdpbusd", "zmm")
MXACT_PEAK(f32_fmas, "vfmadd231ps", "ymm")
#undef MXACT_PEAK
#undef MXACT_TWELVE

__attribute__((target("avx2"))) void read_all(const std::uint8_t* from) {
  __m256i all[8];
  _Pragma("GCC unroll 8") for (std::size_t j = 0; j < 8; ++j) all[j] = _mm256_setzero_si256();
  for (std::size_t i = 0; i < kBytes; i += sizeof all) {
    _Pragma("GCC unroll 8") for (std::size_t j = 0; j < 8; ++j) {
      all[j] = _mm256_or_si256(all[j], _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i + j * sizeof(__m256i))));
    }
  }
  _Pragma("GCC unroll 8") for (std::size_t j = 0; j < 8; ++j) asm volatile("" : "+x"(all[j]));
}

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }

/// The median of a few.
double rate(void (*run)(), double operations) {
  std::array<double, 5> rates;
  for (double& each : rates) {
    const double start = seconds();
    run();
    each = operations / (seconds() - start);
  }
  std::nth_element(rates.begin(), rates.begin() + 2, rates.end());
  return rates[2];
}

#endif

}  // namespace

double memory_read() {
  static std::vector<std::uint64_t> memory(kBytes / sizeof(std::uint64_t) + 8, 1);
#if defined(__x86_64__)
  if (has_avx2()) {
    const auto address = (reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64;
    const double start = seconds();
    read_all(reinterpret_cast<const std::uint8_t*>(address));
    return static_cast<double>(kBytes) / (seconds() - start);
  }
#endif
  const double start = seconds();
  std::uint64_t all = 0;
  for (const std::uint64_t word : memory) all |= word;
  static volatile std::uint64_t seen = all;
  (void)seen;
  return static_cast<double>(kBytes) / (seconds() - start);
}

double bf16_dot_peak() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16") != 0) return rate(bf16_dots, 64.0 * kSums * kRounds);
#endif
  return 0;
}

double int8_dot_peak() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") != 0) return rate(int8_dots, 128.0 * kSums * kRounds);
#endif
  return 0;
}

double f32_fma_peak() {
#if defined(__x86_64__)
  if (has_avx2()) return rate(f32_fmas, 16.0 * kSums * kRounds);
#endif
  return 0;
}

}  // namespace mx::bench
