#include "bench/machine.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mx::bench {
namespace {

/// Read and written in turn; a page.
constexpr std::size_t kStep = 4096;

std::uint64_t read_step(const std::byte* from, std::size_t bytes) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i + sizeof sums <= bytes; i += sizeof sums) {
    std::uint64_t words[8];
    std::memcpy(words, from + i, sizeof words);
    for (std::size_t j = 0; j < 8; ++j) sums[j] ^= words[j];
  }
  return sums[0] ^ sums[1] ^ sums[2] ^ sums[3] ^ sums[4] ^ sums[5] ^ sums[6] ^ sums[7];
}

/// Without reading the lines that are written, where the processor can.
void write_step(std::byte* to, std::size_t bytes, std::uint64_t value) {
#if defined(__SSE2__)
  const __m128i both = _mm_set1_epi64x(static_cast<long long>(value));
  for (std::size_t i = 0; i < bytes; i += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), both);
#else
  std::memset(to, static_cast<int>(value), bytes);
#endif
}

/// Reads and writes proportional shares of both, a step of the larger one at a time. Keeps the sum alive in what it writes.
std::uint64_t move_part(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::size_t steps = std::max<std::size_t>({1, from.size() / kStep, to.size() / kStep});
  std::uint64_t sum = 0;
  std::size_t read = 0;
  std::size_t written = 0;
  for (std::size_t step = 1; step <= steps; ++step) {
    const std::size_t read_to = from.size() * step / steps / 64 * 64;
    const std::size_t write_to = to.size() * step / steps / 64 * 64;
    sum ^= read_step(from.data() + read, read_to - read);
    if (write_to > written) write_step(to.data() + written, write_to - written, sum);
    read = read_to;
    written = write_to;
  }
  return sum;
}

std::size_t part_of(std::size_t bytes, int i, int parts) { return bytes * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts) / 64 * 64; }

}  // namespace

Memory::Memory(std::size_t bytes) : bytes_(bytes) {
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw std::bad_alloc();
  madvise(data_, bytes, MADV_HUGEPAGE);
  std::memset(data_, 0, bytes);
}

Memory::~Memory() { munmap(data_, bytes_); }

void pin(int threads) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int i = 0; i < threads; ++i) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(i), &set);
    sched_setaffinity(0, sizeof set, &set);
  }
}

std::uint64_t move(std::span<const std::byte> from, std::span<std::byte> to, int threads) {
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(^ : sum)
  for (int i = 0; i < threads; ++i) {
    const std::size_t a = part_of(from.size(), i, threads);
    const std::size_t b = part_of(to.size(), i, threads);
    sum ^= move_part(from.subspan(a, part_of(from.size(), i + 1, threads) - a), to.subspan(b, part_of(to.size(), i + 1, threads) - b));
  }
  return sum;
}

}  // namespace mx::bench
