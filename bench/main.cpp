// How fast the model and its twins are, beside the machine's own limit: a plain copy of the same bytes.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "bench/benchmarks.hpp"
#include "kernels/sweep/encode.hpp"
#include "model/numerics/exact_sum.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/profile.hpp"

namespace {

constexpr std::size_t kInputs = 1U << 16;

/// fp32 patterns of both signs, log-uniform between 2^-10 and 2^10: most are in range of every format. The same at each run.
std::vector<std::uint32_t> inputs() {
  std::vector<std::uint32_t> out(kInputs);
  std::uint32_t state = 1;
  for (std::uint32_t& bits : out) {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t exponent = 117U + (state >> 8) % 20U;
    bits = (state & 0x80000000U) | (exponent << 23) | (state & 0x007FFFFFU);
  }
  return out;
}

void count_items(benchmark::State& state, std::size_t items, std::size_t bytes_per_item) {
  const auto total = static_cast<std::int64_t>(items) * state.iterations();
  state.SetItemsProcessed(total);
  state.SetBytesProcessed(total * static_cast<std::int64_t>(bytes_per_item));
}

void copy(benchmark::State& state) {
  const std::vector<std::uint32_t> from = inputs();
  std::vector<std::uint32_t> to(kInputs);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), kInputs * sizeof(std::uint32_t));
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  count_items(state, kInputs, 8);
}

void encode_model(benchmark::State& state, const mx::Format& to) {
  const std::vector<std::uint32_t> from = inputs();
  std::vector<std::uint32_t> codes(kInputs);
  const mx::Conversion how = mx::conversion(mx::profile_named(mx::kOcp), mx::kF32, to);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kInputs; ++i) codes[i] = mx::convert(from[i], mx::kF32, to, how);
    benchmark::DoNotOptimize(codes.data());
  }
  count_items(state, kInputs, 8);
}

void encode_twin(benchmark::State& state, const mx::Format& to) {
  const std::vector<std::uint32_t> from = inputs();
  std::vector<std::uint32_t> codes(kInputs);
  const mx::Conversion how = mx::conversion(mx::profile_named(mx::kOcp), mx::kF32, to);
  for (auto _ : state) {
    mx::kernels::encode(from, to, how, codes);
    benchmark::DoNotOptimize(codes.data());
    benchmark::ClobberMemory();
  }
  count_items(state, kInputs, 8);
}

void quantize_mxfp4(benchmark::State& state) {
  const std::vector<std::uint32_t> from = inputs();
  const mx::BlockFormat& format = mx::block_format_named("mxfp4");
  const mx::Conversion how = mx::conversion(mx::profile_named(mx::kOcp), mx::kF32, *format.element);
  const auto size = static_cast<std::size_t>(format.block);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kInputs; i += size) {
      benchmark::DoNotOptimize(mx::quantize_block(std::span(from).subspan(i, size), mx::kF32, mx::Recipe{&format, mx::ocp_recipe(how), {}}));
    }
  }
  count_items(state, kInputs, 4);
}

void exact_sum_product(benchmark::State& state) {
  std::vector<mx::Value> values;
  for (std::uint32_t bits : inputs()) values.push_back(mx::decode(mx::kF32, bits));
  for (auto _ : state) {
    mx::ExactSum sum;
    for (std::size_t i = 0; i + 1 < kInputs; ++i) sum.add_product(values[i], values[i + 1]);
    benchmark::DoNotOptimize(sum.to_f32());
  }
  count_items(state, kInputs - 1, 2 * sizeof(mx::Value));
}

void exponential(benchmark::State& state) {
  const std::vector<std::uint32_t> from = inputs();
  for (auto _ : state) {
    for (std::uint32_t bits : from) benchmark::DoNotOptimize(mx::f32::exp(bits));
  }
  count_items(state, kInputs, 8);
}

}  // namespace

BENCHMARK(copy);
BENCHMARK_CAPTURE(encode_model, f32_to_e4m3fn, mx::kE4m3fn);
BENCHMARK_CAPTURE(encode_twin, f32_to_e4m3fn, mx::kE4m3fn);
BENCHMARK_CAPTURE(encode_model, f32_to_e2m1, mx::kE2m1);
BENCHMARK_CAPTURE(encode_twin, f32_to_e2m1, mx::kE2m1);
BENCHMARK_CAPTURE(encode_model, f32_to_bf16, mx::kBf16);
BENCHMARK_CAPTURE(encode_twin, f32_to_bf16, mx::kBf16);
BENCHMARK_CAPTURE(encode_twin, f32_to_e8m0, mx::kE8m0);
BENCHMARK(quantize_mxfp4);
BENCHMARK(exact_sum_product);
BENCHMARK(exponential);

int main(int argc, char** argv) {
  mx::bench::register_codecs();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
