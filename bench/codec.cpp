// Block codecs: each row of a table on each tier with one and two threads, beside the model and beside what moving the same bytes takes.

#include "kernels/codec/codec.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "bench/benchmarks.hpp"
#include "bench/machine.hpp"
#include "kernels/sweep/encode.hpp"

namespace mx::bench {
namespace {

/// Larger than any cache: 256 MiB of fp32.
constexpr std::size_t kElements = std::size_t{1} << 26;
constexpr std::size_t kModelElements = std::size_t{1} << 13;
constexpr std::size_t kCols = 4096;
constexpr std::array kThreads{1, 2};

struct QuantizeRow {
  std::string_view profile;
  const BlockFormat* format;
  const Format* source;
  TensorScale tensor = {};
};
constexpr std::array kQuantizers{
    QuantizeRow{"ocp", &kMxfp4, &kF32},
    QuantizeRow{"ocp", &kMxfp4, &kBf16},
    QuantizeRow{"ocp", &kMxfp8E4m3, &kF32},
    QuantizeRow{"ocp", &kMxfp8E4m3, &kBf16},
    QuantizeRow{"ocp", &kMxfp8E5m2, &kBf16},
    QuantizeRow{"ocp", &kMxfp6E2m3, &kBf16},
    QuantizeRow{"torchao-rceil", &kMxfp8E4m3, &kBf16},
    QuantizeRow{"vllm-quark-even", &kMxfp4, &kBf16},
    QuantizeRow{"deepgemm-ue8m0", &kFp8Group128, &kBf16},
    QuantizeRow{"deepgemm", &kFp8Group128, &kBf16},
    QuantizeRow{"deepgemm", &kFp8E4m3Square, &kBf16},
    QuantizeRow{"vllm-group-ue8m0", &kFp8Group128, &kBf16},
    QuantizeRow{"ocp", &kMxint8Block, &kBf16},
    QuantizeRow{"microxcaling-even", &kMxfp4, &kBf16},
    QuantizeRow{"vllm-fp8-token", &kFp8E4m3, &kBf16},
    QuantizeRow{"vllm-nvfp4", &kNvfp4, &kBf16, {.encode = 0x43A80000U, .decode = {}}},
};

struct DequantizeRow {
  std::string_view profile;
  const BlockFormat* format;
  const Format* target;
};
constexpr std::array kDequantizers{
    DequantizeRow{"ocp", &kMxfp4, &kBf16},
    DequantizeRow{"ocp", &kMxfp4, &kF32},
    DequantizeRow{"ocp", &kMxfp8E4m3, &kBf16},
    DequantizeRow{"ocp", &kMxfp8E4m3, &kF32},
    DequantizeRow{"ocp", &kMxfp6E2m3, &kBf16},
    DequantizeRow{"ocp", &kMxfp4, &kFp16},
    DequantizeRow{"torchao-nvfp4-single", &kNvfp4, &kBf16},
    DequantizeRow{"torchao-fp8", &kFp8E4m3, &kBf16},
};

/// What every benchmark reads, filled once, and where it writes.
struct Arena {
  Memory f32{kElements * 4};   ///< both signs, log-uniform between 2^-10 and 2^10
  Memory bf16{kElements * 2};  ///< the upper halves of these
  Memory codes{kElements};     ///< of 6 bits, which every format of one byte has; kernels do not branch on them
  Memory scales{kElements / 4};
  Memory out{kElements * 4};
  Memory out_scales{kElements / 4};

  Arena() {
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < kElements; ++i) {
      state = state * 1664525U + 1013904223U;
      const std::uint32_t bits = (state & 0x80000000U) | (117U + (state >> 8) % 20U) << 23 | (state & 0x007FFFFFU);
      f32.words<std::uint32_t>()[i] = bits;
      bf16.words<std::uint16_t>()[i] = static_cast<std::uint16_t>(bits >> 16);
      codes.words<std::uint8_t>()[i] = static_cast<std::uint8_t>(state >> 26);
    }
    for (std::size_t i = 0; i < kElements / 4; ++i) scales.words<std::uint8_t>()[i] = static_cast<std::uint8_t>(70 + i % 56);
  }
};

const Arena& arena() {
  static const Arena kArena;
  return kArena;
}

std::size_t word_bytes(const Format& format) { return format == kF32 ? 4 : 2; }

kernels::ElementBits source_bits(const Format& source, std::size_t count) {
  if (source == kF32) return kernels::f32_bits(arena().f32.words<std::uint32_t>().first(count));
  return kernels::bf16_bits(arena().bf16.words<std::uint16_t>().first(count));
}

kernels::ElementRoom target_room(const Format& target, std::size_t count) {
  if (target == kF32) return kernels::f32_room(arena().out.words<std::uint32_t>().first(count));
  const auto words = arena().out.words<std::uint16_t>().first(count);
  return target == kBf16 ? kernels::bf16_room(words) : kernels::fp16_room(words);
}

kernels::QuantizedSizes sizes_of(const BlockFormat& format, std::size_t elements) {
  return kernels::quantized_sizes({elements / kCols, kCols}, format, kernels::ScaleLayout::rows);
}

void count(benchmark::State& state, std::size_t elements, std::size_t bytes) {
  state.SetItemsProcessed(static_cast<std::int64_t>(elements) * state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

void quantize(benchmark::State& state, const QuantizeRow& row, const kernels::IsaTier& tier, int threads) {
  pin(threads);
  const Recipe& how = recipe(profile_named(row.profile), *row.format);
  const kernels::QuantizedSizes sizes = sizes_of(*row.format, kElements);
  const kernels::QuantizedRoom out{arena().out.words<std::uint8_t>().first(sizes.codes),
                                   arena().out_scales.words<std::uint8_t>().first(sizes.scales)};
  for (auto _ : state) {
    kernels::quantize(source_bits(*row.source, kElements), {kElements / kCols, kCols}, how, row.tensor, kernels::ScaleLayout::rows, out,
                      {&tier, threads});
    benchmark::ClobberMemory();
  }
  count(state, kElements, kElements * word_bytes(*row.source) + sizes.codes + sizes.scales);
}

void dequantize(benchmark::State& state, const DequantizeRow& row, const kernels::IsaTier& tier, int threads) {
  pin(threads);
  const Dequantizer& how = dequantizer(profile_named(row.profile), *row.format, *row.target);
  const kernels::QuantizedSizes sizes = sizes_of(*row.format, kElements);
  const kernels::QuantizedBits from{arena().codes.words<std::uint8_t>().first(sizes.codes), arena().scales.words<std::uint8_t>().first(sizes.scales)};
  for (auto _ : state) {
    kernels::dequantize(from, {kElements / kCols, kCols}, how, {}, kernels::ScaleLayout::rows, target_room(*row.target, kElements), {&tier, threads});
    benchmark::ClobberMemory();
  }
  count(state, kElements, kElements * word_bytes(*row.target) + sizes.codes + sizes.scales);
}

/// The model on one thread, on a part of the elements.
void quantize_by_model(benchmark::State& state, const QuantizeRow& row) {
  pin(1);
  const Recipe& how = recipe(profile_named(row.profile), *row.format);
  const std::size_t block = row.format->block == 0 ? kCols : static_cast<std::size_t>(row.format->block);
  std::vector<std::uint32_t> x(block);
  for (auto _ : state) {
    for (std::size_t first = 0; first < kModelElements; first += block) {
      for (std::size_t i = 0; i < block; ++i) {
        x[i] = *row.source == kF32 ? arena().f32.words<std::uint32_t>()[first + i] : arena().bf16.words<std::uint16_t>()[first + i];
      }
      benchmark::DoNotOptimize(quantize_block(x, *row.source, how, row.tensor));
    }
  }
  count(state, kModelElements, kModelElements * word_bytes(*row.source));
}

void dequantize_by_model(benchmark::State& state, const DequantizeRow& row) {
  pin(1);
  const Dequantizer& how = dequantizer(profile_named(row.profile), *row.format, *row.target);
  const std::uint32_t codes = 1U << row.format->element->width;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < kModelElements; ++i) benchmark::DoNotOptimize(mx::dequantize(i % codes, 110 + i / 32 % 32, how));
  }
  count(state, kModelElements, kModelElements * word_bytes(*row.target));
}

/// Moves as many bytes per element as a codec, in its direction.
void limit(benchmark::State& state, std::size_t in, std::size_t out, int threads, std::size_t step) {
  pin(threads);
  const auto from = std::as_bytes(arena().f32.words<std::byte>()).first(in);
  const auto to = arena().out.words<std::byte>().first(out);
  for (auto _ : state) benchmark::DoNotOptimize(move(from, to, threads, step));
  count(state, kElements, in + out);
}

/// All 2^32 fp32 patterns, digests included.
void sweep(benchmark::State& state, const Format& to, int threads) {
  pin(threads);
  const Conversion how = conversion(profile_named(kOcp), kF32, to);
  for (auto _ : state) {
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(+ : sum)
    for (std::uint32_t chunk = 0; chunk < kernels::kSweepChunks; ++chunk) sum += kernels::sweep_digest(chunk, to, how);
    benchmark::DoNotOptimize(sum);
  }
  count(state, std::size_t{1} << 32, 0);
}

using Name = std::string;

/// benchmark name: codec / what / threads. bench/report.py takes it apart.
benchmark::internal::Benchmark* add(const Name& codec, const Name& what, int threads, const std::function<void(benchmark::State&)>& run) {
  return benchmark::RegisterBenchmark((codec + "/" + what + "/" + std::to_string(threads)).c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond);
}

template <class Row, class Run>
void add_tiers(const Name& codec, const Row& row, Run run) {
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    if (!kernels::runs_here(tier)) continue;
    for (int threads : kThreads) {
      add(codec, Name(tier.name), threads, [&row, &tier, threads, run](benchmark::State& state) { run(state, row, tier, threads); });
    }
  }
}

/// Both ways of moving: bench/report.py takes the faster one.
void add_limit(const Name& codec, std::size_t in, std::size_t out) {
  for (int threads : kThreads) {
    add(codec, "limit", threads, [=](benchmark::State& state) { limit(state, in, out, threads, kLongStep); });
    add(codec, "limit in short steps", threads, [=](benchmark::State& state) { limit(state, in, out, threads, kShortStep); });
  }
}

}  // namespace

void register_codecs() {
  for (const QuantizeRow& row : kQuantizers) {
    const Name codec = Name(row.source->name) + " to " + Name(row.format->name) + " (" + Name(row.profile) + ")";
    const kernels::QuantizedSizes sizes = sizes_of(*row.format, kElements);
    add_limit(codec, kElements * word_bytes(*row.source), sizes.codes + sizes.scales);
    add_tiers(codec, row, quantize);
    add(codec, "model", 1, [&row](benchmark::State& state) { quantize_by_model(state, row); });
  }
  for (const DequantizeRow& row : kDequantizers) {
    const Name codec = Name(row.format->name) + " to " + Name(row.target->name) + " (" + Name(row.profile) + ")";
    const kernels::QuantizedSizes sizes = sizes_of(*row.format, kElements);
    add_limit(codec, sizes.codes + sizes.scales, kElements * word_bytes(*row.target));
    add_tiers(codec, row, dequantize);
    add(codec, "model", 1, [&row](benchmark::State& state) { dequantize_by_model(state, row); });
  }
  for (const Format* to : {&kE4m3fn, &kE2m1, &kBf16, &kE8m0}) {
    for (int threads : kThreads) {
      add("sweep f32 to " + Name(to->name), "sweep", threads, [=](benchmark::State& state) { sweep(state, *to, threads); })->Iterations(1);
    }
  }
  const std::size_t half = kElements * 2;
  add_limit("read", 2 * half, 0);
  add_limit("write past the caches", 0, 2 * half);
  add_limit("copy past the caches", kElements, kElements);
}

}  // namespace mx::bench
