#pragma once
// What products of expert weights have in common, whoever computes them: gpt-oss's sizes, and how a rate stands beside its limit.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "bench/machine.hpp"

namespace mx::bench {

inline constexpr std::size_t kProductK = 2880;
inline constexpr std::size_t kProductColumns[] = {5760, 2880};
inline constexpr std::size_t kProductRows[] = {1, 4, 16, 64, 256};

/// Below this many rows weights come from memory each time: as many copies as no cache holds.
inline constexpr std::size_t kColdRows = 16;
inline constexpr std::size_t kColdBytes = std::size_t{288} << 20;

/// Bytes that look random, the same at each run.
class Draws {
 public:
  std::uint32_t operator()() { return static_cast<std::uint32_t>((state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL) >> 33); }

 private:
  std::uint64_t state_ = 1;
};

/// Operations per second that this moment allows so many threads: the smaller of their instruction's `peak` and of the rate at which weights come
/// from memory.
inline double product_limit(double peak, std::size_t rows, double bytes_per_weight, int threads) {
  return std::min(peak, 2 * static_cast<double>(rows) * memory_read(threads) / bytes_per_weight);
}

/// `limit` is the mean of those before and after the run; 0 where none is known for this kind of processor: there is no share then.
inline void count_product(benchmark::State& state, std::size_t rows, std::size_t columns, double limit) {
  const double operations = 2.0 * static_cast<double>(rows * columns * kProductK) * static_cast<double>(state.iterations());
  state.counters["rate"] = benchmark::Counter(operations, benchmark::Counter::kIsRate);
  if (limit <= 0) return;
  state.counters["limit"] = limit;
  state.counters["share"] = benchmark::Counter(operations / limit, benchmark::Counter::kIsRate);
}

/// Registers `run(state, columns, rows, threads)` as moe_gemm/WHAT/N:../M:../threads:.. for every size, with one thread and two. One is timed by its
/// own processor time, as its limits are.
template <class Run>
void register_products(std::string_view what, Run run) {
  for (const std::size_t columns : kProductColumns) {
    for (const std::size_t rows : kProductRows) {
      for (const int threads : {1, 2}) {
        const std::string name =
            "moe_gemm/" + std::string(what) + "/N:" + std::to_string(columns) + "/M:" + std::to_string(rows) + "/threads:" + std::to_string(threads);
        auto* entry = benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run(state, columns, rows, threads); });
        entry->Unit(benchmark::kMillisecond)->MinTime(0.1);
        if (threads > 1) entry->UseRealTime();
      }
    }
  }
}

}  // namespace mx::bench
