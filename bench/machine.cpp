#include "bench/machine.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <new>

#include "kernels/isa.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mx::bench {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// Processor time of this thread for one thread: what others run meanwhile on the same core does not count. The clock for several, as they are waited
/// for.
double seconds(int threads) {
  timespec now{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Reads a multiple of 64 bytes, by the widest vectors that the processor has: with narrower ones a core does not reach what memory gives.
std::uint64_t read_narrow(const std::byte* from, std::size_t bytes) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i < bytes; i += sizeof sums) {
    std::uint64_t words[8];
    std::memcpy(words, from + i, sizeof words);
    for (std::size_t j = 0; j < 8; ++j) sums[j] ^= words[j];
  }
  return sums[0] ^ sums[1] ^ sums[2] ^ sums[3] ^ sums[4] ^ sums[5] ^ sums[6] ^ sums[7];
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) std::uint64_t read_wide(const std::byte* from, std::size_t bytes) {
  __m512i sum = _mm512_setzero_si512();
  for (std::size_t i = 0; i < bytes; i += 64) sum = _mm512_xor_si512(sum, _mm512_load_si512(from + i));
  alignas(64) std::uint64_t words[8];
  _mm512_store_si512(words, sum);
  return words[0] ^ words[1] ^ words[2] ^ words[3] ^ words[4] ^ words[5] ^ words[6] ^ words[7];
}

__attribute__((target("avx2"))) std::uint64_t read_half(const std::byte* from, std::size_t bytes) {
  __m256i low = _mm256_setzero_si256();
  __m256i high = _mm256_setzero_si256();
  for (std::size_t i = 0; i < bytes; i += 64) {
    low = _mm256_xor_si256(low, _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i)));
    high = _mm256_xor_si256(high, _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i + 32)));
  }
  alignas(32) std::uint64_t words[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(words), _mm256_xor_si256(low, high));
  return words[0] ^ words[1] ^ words[2] ^ words[3];
}

/// Without reading the lines that are written.
__attribute__((target("avx512f"))) void write_wide(std::byte* to, std::size_t bytes, std::uint64_t value) {
  const __m512i line = _mm512_set1_epi64(static_cast<long long>(value));
  for (std::size_t i = 0; i < bytes; i += 64) _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), line);
}

void write_narrow(std::byte* to, std::size_t bytes, std::uint64_t value) {
  const __m128i both = _mm_set1_epi64x(static_cast<long long>(value));
  for (std::size_t i = 0; i < bytes; i += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), both);
}

bool is_wide() { return __builtin_cpu_supports("avx512f") != 0; }
auto* best_read() { return is_wide() ? read_wide : __builtin_cpu_supports("avx2") != 0 ? read_half : read_narrow; }
#else
auto* best_read() { return read_narrow; }
void write_narrow(std::byte* to, std::size_t bytes, std::uint64_t value) { std::memset(to, static_cast<int>(value), bytes); }
void write_wide(std::byte* to, std::size_t bytes, std::uint64_t value) { write_narrow(to, bytes, value); }
bool is_wide() { return false; }
#endif

/// Reads and writes proportional shares of both, a step of the larger one at a time. Keeps the sum alive in what it writes.
std::uint64_t move_part(std::span<const std::byte> from, std::span<std::byte> to, std::size_t step_bytes) {
  /// What lies so far ahead is asked for, where steps are too short for the processor to see a stream.
  constexpr std::size_t kAhead = 4096;
  const auto read = best_read();
  const auto write = is_wide() ? write_wide : write_narrow;
  const std::size_t steps = std::max<std::size_t>({1, from.size() / step_bytes, to.size() / step_bytes});
  std::uint64_t sum = 0;
  std::size_t read_to = 0;
  std::size_t written_to = 0;
  for (std::size_t step = 1; step <= steps; ++step) {
    const std::size_t read_end = from.size() / 64 * step / steps * 64;
    const std::size_t write_end = to.size() / 64 * step / steps * 64;
    for (std::size_t i = read_to; step_bytes < kAhead && i < read_end && i + kAhead < from.size(); i += 64)
      __builtin_prefetch(from.data() + i + kAhead);
    sum ^= read(from.data() + read_to, read_end - read_to);
    if (write_end > written_to) write(to.data() + written_to, write_end - written_to, sum);
    read_to = read_end;
    written_to = write_end;
  }
  return sum;
}

std::size_t part_of(std::size_t bytes, int i, int parts) { return bytes * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts) / 64 * 64; }

#if defined(__x86_64__)

__attribute__((target("avx512f"))) void copy_512(std::byte* target, const std::byte* source, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 256) {
    for (std::size_t j = 0; j < 256; j += 64) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(target + i + j), _mm512_load_si512(source + i + j));
    }
  }
  _mm_sfence();
}

void copy_128(std::byte* target, const std::byte* source, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + i), _mm_load_si128(reinterpret_cast<const __m128i*>(source + i)));
  }
  _mm_sfence();
}

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
MXACT_PEAK(int8_pairs, "vpmaddubsw", "ymm")
MXACT_PEAK(f32_fmas, "vfmadd231ps", "ymm")
MXACT_PEAK(f32_wide_fmas, "vfmadd231ps", "zmm")
#undef MXACT_PEAK

constexpr std::size_t kTileRounds = kRounds / 20;
constexpr double kTileSums = 4;
constexpr double kTileProducts = 16 * 16 * 32;

/// Products of tiles of 16 rows and columns and 32 of K that lie in their registers: two tiles of rows by two of weights. The operating system must
/// grant tiles. `row_bytes`: of a row's 32 of K, `weight_rows`: of the weights' tiles.
#define MXACT_TILES(NAME, OP, ROW_BYTES, WEIGHT_ROWS)                                                                   \
  void NAME() {                                                                                                         \
    struct alignas(64) {                                                                                                \
      std::uint8_t palette = 1, rest[15] = {};                                                                          \
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, ROW_BYTES, ROW_BYTES, 64, 64};                                     \
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, WEIGHT_ROWS, WEIGHT_ROWS};                                       \
    } const shapes;                                                                                                     \
    std::size_t rounds = kTileRounds;                                                                                   \
    asm volatile("ldtilecfg %0" ::"m"(shapes));                                                                         \
    asm volatile("1:\n" OP " %%tmm6, %%tmm4, %%tmm0\n" OP " %%tmm7, %%tmm4, %%tmm1\n" OP " %%tmm6, %%tmm5, %%tmm2\n" OP \
                 " %%tmm7, %%tmm5, %%tmm3\ndec %0\njnz 1b\ntilerelease"                                                 \
                 : "+r"(rounds)                                                                                         \
                 :                                                                                                      \
                 : "cc");                                                                                               \
  }
MXACT_TILES(bf16_tiles, "tdpbf16ps", 64, 16)
MXACT_TILES(int8_tiles, "tdpbssd", 32, 8)
#undef MXACT_TILES

/// Four products of each sum, then what int8-block does with a block's sum: less the float it was counted in, times the scale to the total. Totals
/// lie in registers that cannot be named to a compiler without AVX-512; a caller keeps nothing there.
#define MXACT_SETTLE(SUM, TOTAL) "vsubps %%zmm14, %%zmm" SUM ", %%zmm12\nvfmadd231ps %%zmm12, %%zmm15, %%zmm" TOTAL "\n"
void int8_blocks() {
  std::size_t rounds = kRounds;
  asm volatile("vxorps %%ymm14, %%ymm14, %%ymm14\nvxorps %%ymm15, %%ymm15, %%ymm15\n1:\n"  //
               MXACT_TWELVE("vpdpbusd", "zmm") MXACT_TWELVE("vpdpbusd", "zmm")             //
               MXACT_TWELVE("vpdpbusd", "zmm") MXACT_TWELVE("vpdpbusd", "zmm")             //
               MXACT_SETTLE("0", "16") MXACT_SETTLE("1", "17") MXACT_SETTLE("2", "18")     //
               MXACT_SETTLE("3", "19") MXACT_SETTLE("4", "20") MXACT_SETTLE("5", "21")     //
               MXACT_SETTLE("6", "22") MXACT_SETTLE("7", "23") MXACT_SETTLE("8", "24")     //
               MXACT_SETTLE("9", "25") MXACT_SETTLE("10", "26") MXACT_SETTLE("11", "27") "dec %0\njnz 1b\n"
               : "+r"(rounds)
               :
               : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm14", "xmm15");
}
#undef MXACT_SETTLE
#undef MXACT_TWELVE

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }

/// The median of a few, `operations` being those of one thread's run.
double rate(void (*run)(), double operations, int threads) {
  std::array<double, 5> rates;
  for (double& each : rates) {
    const double start = seconds(threads);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int i = 0; i < threads; ++i) run();
    each = threads * operations / (seconds(threads) - start);
  }
  std::nth_element(rates.begin(), rates.begin() + 2, rates.end());
  return rates[2];
}

#endif

}  // namespace

Memory::Memory(std::size_t bytes) : bytes_(bytes), reserved_((bytes + 2 * kLargePage) / kLargePage * kLargePage) {
  memory_ = mmap(nullptr, reserved_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  madvise(memory_, reserved_, MADV_HUGEPAGE);
  const std::size_t before = reinterpret_cast<std::uintptr_t>(memory_) % kLargePage;
  data_ = static_cast<std::byte*>(memory_) + (kLargePage - before) % kLargePage;
  std::memset(data_, 0, bytes);
}

Memory::~Memory() { munmap(memory_, reserved_); }

void pin(int threads) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int i = 0; i < threads; ++i) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(i), &set);
    // Threads that the caller starts inherit its set.
    for (int other = 1; i == 0 && other < threads; ++other) CPU_SET(static_cast<std::size_t>(other), &set);
    sched_setaffinity(0, sizeof set, &set);
  }
}

std::uint64_t move(std::span<const std::byte> from, std::span<std::byte> to, int threads, std::size_t step) {
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(^ : sum)
  for (int i = 0; i < threads; ++i) {
    const std::size_t a = part_of(from.size(), i, threads);
    const std::size_t b = part_of(to.size(), i, threads);
    sum ^= move_part(from.subspan(a, part_of(from.size(), i + 1, threads) - a), to.subspan(b, part_of(to.size(), i + 1, threads) - b), step);
  }
  return sum;
}

#if defined(__x86_64__)
void stream_copy(std::byte* target, const std::byte* source, std::size_t bytes) {
  __builtin_cpu_supports("avx512f") ? copy_512(target, source, bytes) : copy_128(target, source, bytes);
}
#else
void stream_copy(std::byte* target, const std::byte* source, std::size_t bytes) { std::memcpy(target, source, bytes); }
#endif

double memory_read(int threads) {
  static const Memory kMemory(std::size_t{256} << 20);
  const std::span<const std::byte> bytes = kMemory.words<std::byte>();
  const double start = seconds(threads);
  static volatile std::uint64_t seen = 0;
  seen = seen ^ move(bytes, {}, threads, kLongStep);
  return static_cast<double>(bytes.size()) / (seconds(threads) - start);
}

double bf16_dot_peak([[maybe_unused]] int threads) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16") != 0) return rate(bf16_dots, 64.0 * kSums * kRounds, threads);
#endif
  return 0;
}

double bf16_tile_peak([[maybe_unused]] int threads) {
#if defined(__x86_64__)
  if ((kernels::isa_of_processor() & kernels::kAmx) != 0) return rate(bf16_tiles, 2 * kTileProducts * kTileSums * kTileRounds, threads);
#endif
  return 0;
}

double int8_tile_peak([[maybe_unused]] int threads) {
#if defined(__x86_64__)
  if ((kernels::isa_of_processor() & kernels::kAmx) != 0) return rate(int8_tiles, 2 * kTileProducts * kTileSums * kTileRounds, threads);
#endif
  return 0;
}

double int8_dot_peak([[maybe_unused]] int threads) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") != 0) return rate(int8_dots, 128.0 * kSums * kRounds, threads);
#endif
  return 0;
}

double int8_block_peak([[maybe_unused]] int threads) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") != 0) return rate(int8_blocks, 4 * 128.0 * kSums * kRounds, threads);
#endif
  return 0;
}

double int8_pair_peak([[maybe_unused]] int threads) {
#if defined(__x86_64__)
  if (has_avx2()) return rate(int8_pairs, 64.0 * kSums * kRounds, threads);
#endif
  return 0;
}

double f32_fma_peak([[maybe_unused]] int threads) {
#if defined(__x86_64__)
  if (has_avx2()) return rate(f32_fmas, 16.0 * kSums * kRounds, threads);
#endif
  return 0;
}

double f32_wide_fma_peak([[maybe_unused]] int threads) {
#if defined(__x86_64__)
  if (is_wide()) return rate(f32_wide_fmas, 32.0 * kSums * kRounds, threads);
#endif
  return 0;
}

}  // namespace mx::bench
