// Products of MXFP4 expert weights at gpt-oss sizes, each as a rate and as a share of what the machine allows at the same moment: the smaller of the
// instruction's peak and of the rate at which one thread reads the weights from memory.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/machine.hpp"
#include "kernels/moe/gemm.hpp"

namespace {

using namespace mx::kernels::moe;

/// Below this many rows weights come from memory each time: as many copies as no cache holds.
constexpr std::size_t kColdRows = 16;
constexpr std::size_t kColdBytes = std::size_t{288} << 20;

/// Bytes that look random, the same at each run.
class Draws {
 public:
  std::uint32_t operator()() { return static_cast<std::uint32_t>((state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL) >> 33); }

 private:
  std::uint64_t state_ = 1;
};

/// As many experts as kColdBytes takes, all alike: no engine's time depends on codes.
const PanelMatrix& weights(std::size_t columns, std::size_t k) {
  static std::map<std::size_t, std::unique_ptr<PanelMatrix>> made;
  std::unique_ptr<PanelMatrix>& matrix = made[columns];
  if (matrix) return *matrix;
  Draws draws;
  const PanelShape one{.experts = 1, .halves = 1, .columns = columns, .k = k};
  std::vector<std::uint8_t> codes(columns * k / 2);
  std::vector<std::uint8_t> scales(columns * k / 32);
  for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(draws());
  for (std::uint8_t& byte : scales) byte = static_cast<std::uint8_t>(118 + draws() % 12);
  matrix = std::make_unique<PanelMatrix>(pack(one, row_order(one, mx::layout::SourceOrder::standard), codes, scales, {}));
  const std::size_t copies = kColdBytes / matrix->codes.size() + 1;
  const PanelMatrix first = *matrix;
  matrix->shape.experts = copies;
  for (std::size_t i = 1; i < copies; ++i) {
    matrix->codes.insert(matrix->codes.end(), first.codes.begin(), first.codes.end());
    matrix->scales.insert(matrix->scales.end(), first.scales.begin(), first.scales.end());
    matrix->ranges.insert(matrix->ranges.end(), first.ranges.begin(), first.ranges.end());
  }
  return *matrix;
}

/// Operations per second that this moment allows.
double limit(const Engine& engine, std::size_t rows, int threads) {
  const bool vectors = (engine.needs & mx::kernels::kAvx512) != 0;
  const double peak = !vectors                                      ? mx::bench::f32_fma_peak()
                      : engine.contract == mx::Contract::int8_block ? mx::bench::int8_dot_peak()
                                                                    : mx::bench::bf16_dot_peak();
  constexpr double kBytesPerWeight = 0.5 + 1.0 / 32;
  return threads * std::min(peak, 2 * static_cast<double>(rows) * mx::bench::memory_read() / kBytesPerWeight);
}

void product(benchmark::State& state, const Engine& engine, std::size_t columns, std::size_t rows, int threads) {
  constexpr std::size_t kK = 2880;
  if ((engine.needs & ~mx::kernels::isa_of_processor()) != 0) return state.SkipWithError("this processor cannot run it");
  const PanelMatrix& matrix = weights(columns, kK);
  Draws draws;
  std::vector<std::uint16_t> bf16(rows * kK);
  std::vector<std::int8_t> int8(rows * kK);
  const std::vector<std::uint8_t> scales(rows * kK / 32, 120);
  for (std::uint16_t& code : bf16) code = static_cast<std::uint16_t>((draws() & 0x807FU) | (120 + draws() % 8) << 7);
  for (std::int8_t& code : int8) code = static_cast<std::int8_t>(draws());
  std::vector<float> out(rows * columns);
  const std::size_t copies = rows < kColdRows ? matrix.shape.experts : 1;
  double allowed = limit(engine, rows, threads);
  std::size_t expert = 0;
  for (auto _ : state) {
    if (engine.contract == mx::Contract::int8_block) {
      gemm(engine, matrix, expert, Int8Rows{int8, scales}, out, threads);
    } else {
      gemm(engine, matrix, expert, Bf16Rows{bf16}, out, threads);
    }
    benchmark::DoNotOptimize(out.data());
    expert = (expert + 1) % copies;
  }
  allowed = (allowed + limit(engine, rows, threads)) / 2;
  const double operations = 2.0 * static_cast<double>(rows * columns * kK) * static_cast<double>(state.iterations());
  state.counters["rate"] = benchmark::Counter(operations, benchmark::Counter::kIsRate);
  state.counters["limit"] = allowed;
  state.counters["share"] = benchmark::Counter(operations / allowed, benchmark::Counter::kIsRate);
}

/// Every engine of the build but the portable ones, which have no limit to be held against.
const bool kRegistered = [] {
  for (const Engine& engine : engines()) {
    if (engine.needs == 0) continue;
    for (const std::size_t columns : {std::size_t{5760}, std::size_t{2880}}) {
      for (const std::size_t rows : {std::size_t{1}, std::size_t{4}, std::size_t{16}, std::size_t{64}, std::size_t{256}}) {
        for (const int threads : {1, 2}) {
          const std::string name = "moe_gemm/" + std::string(engine.name) + "/N:" + std::to_string(columns) + "/M:" + std::to_string(rows) +
                                   "/threads:" + std::to_string(threads);
          auto* entry = benchmark::RegisterBenchmark(name.c_str(), product, engine, columns, rows, threads);
          // One thread is timed by its own processor time, as its limits are.
          entry->Unit(benchmark::kMillisecond)->MinTime(0.1);
          if (threads > 1) entry->UseRealTime();
        }
      }
    }
  }
  return true;
}();

}  // namespace
