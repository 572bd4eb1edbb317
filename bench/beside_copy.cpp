#include "bench/beside_copy.hpp"

#include <omp.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench/machine.hpp"

namespace mx::bench {
namespace {

/// Of the calling thread: other work on a shared machine disturbs it less than the clock on the wall.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// What one thread works is its own time; of several the slowest counts.
double seconds(int threads) { return threads == 1 ? thread_seconds() : wall_seconds(); }

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Bytes without a pattern that a kernel or a memory could take a short cut for.
void fill(std::span<std::uint8_t> bytes) {
  std::uint64_t state = 1;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 6364136223846793005U + 1442695040888963407U) >> 56);
}

void copy_all(std::span<std::uint8_t> target, std::span<const std::uint8_t> source, int threads) {
  const std::span<std::byte> to = std::as_writable_bytes(target);
  const std::span<const std::byte> from = std::as_bytes(source);
  const std::size_t blocks = std::min(target.size(), source.size()) / 4096;
#pragma omp parallel num_threads(threads)
  {
    const auto t = static_cast<std::size_t>(omp_get_thread_num());
    const auto n = static_cast<std::size_t>(omp_get_num_threads());
    const std::size_t first = blocks * t / n * 4096;
    stream_copy(to.data() + first, from.data() + first, blocks * (t + 1) / n * 4096 - first);
  }
}

}  // namespace

void beside_copy(benchmark::State& state, std::span<std::uint8_t> source, std::span<std::uint8_t> target, int threads,
                 const std::function<void()>& work) {
  fill(source);
  work();
  copy_all(target, source, threads);
  const auto moved = static_cast<double>(std::max(source.size(), target.size()));
  const auto copied = static_cast<double>(std::min(source.size(), target.size()) / 4096 * 4096);
  std::vector<double> copies;
  std::vector<double> moves;
  for (auto _ : state) {
    double begin = seconds(threads);
    copy_all(target, source, threads);
    copies.push_back(copied / (seconds(threads) - begin));
    begin = seconds(threads);
    work();
    const double time = seconds(threads) - begin;
    state.SetIterationTime(time);
    moves.push_back(moved / time);
  }
  state.counters["GB/s"] = median(moves) / 1e9;
  state.counters["copy GB/s"] = median(copies) / 1e9;
  state.counters["share"] = median(moves) / median(copies);
}

}  // namespace mx::bench
