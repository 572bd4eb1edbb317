// Layout conversion of expert tensors of about 100 MB, beside a plain non-temporal copy of as many bytes in the same process. Conversion and copy
// take turns; `share` is the ratio of the medians of their rates.

#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/machine.hpp"
#include "kernels/relayout/plan.hpp"
#include "model/layout/backend.hpp"
#include "model/layout/rounding.hpp"

namespace {

using mx::layout::Layout;
using mx::layout::Role;

/// One conversion: the expert tensor of a gpt-oss layer for a backend's device.
struct Row {
  const char* name;
  const char* backend;
  mx::layout::Arch arch;
  Role role;
  std::int64_t experts;
  int threads;
  bool undo;
};

double seconds(const std::chrono::steady_clock::time_point& begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

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
    mx::bench::stream_copy(to.data() + first, from.data() + first, blocks * (t + 1) / n * 4096 - first);
  }
}

void convert(benchmark::State& state, const Row& row) {
  mx::layout::Setting setting{.sizes = {row.experts, 2880, 2880}, .padded = {}, .form = mx::layout::SourceOrder::gpt_oss, .arch = row.arch};
  setting.padded = setting.sizes;
  setting.padded = mx::layout::rounded_up(row.backend, setting);
  const mx::layout::TensorPlan tensor = mx::layout::find_backend_layout(row.backend)->build(row.role, setting);
  const auto plan = mx::kernels::relayout::plan(mx::layout::canonical(row.role, setting.sizes, setting.form), tensor);
  const mx::bench::Memory a(static_cast<std::size_t>(plan.from_bytes()));
  const mx::bench::Memory b(static_cast<std::size_t>(plan.to_bytes()));
  const std::span<std::uint8_t> source = (row.undo ? b : a).words<std::uint8_t>();
  const std::span<std::uint8_t> target = (row.undo ? a : b).words<std::uint8_t>();
  fill(source);
  const auto run = row.undo ? mx::kernels::relayout::undo : mx::kernels::relayout::apply;
  run(plan, source, target, row.threads);
  copy_all(target, source, row.threads);
  const auto moved = static_cast<double>(std::max(source.size(), target.size()));
  const auto copied = static_cast<double>(std::min(source.size(), target.size()) / 4096 * 4096);
  std::vector<double> copies;
  std::vector<double> moves;
  for (auto _ : state) {
    auto begin = std::chrono::steady_clock::now();
    copy_all(target, source, row.threads);
    copies.push_back(copied / seconds(begin));
    begin = std::chrono::steady_clock::now();
    run(plan, source, target, row.threads);
    const double time = seconds(begin);
    state.SetIterationTime(time);
    moves.push_back(moved / time);
  }
  const auto stages = row.undo ? plan.undo_stages() : plan.stages();
  state.SetLabel(std::string(stages.front().kind) + ", " + std::string(stages.front().kernel));
  state.counters["GB/s"] = median(moves) / 1e9;
  state.counters["copy GB/s"] = median(copies) / 1e9;
  state.counters["share"] = median(moves) / median(copies);
}

constexpr Row kRows[]{
    {"rows/TRTLLM", "FLASHINFER_TRTLLM_MXFP4_BF16", mx::layout::Arch::sm100, Role::w13_weight, 12, 1, false},
    {"rows/CUTLASS", "FLASHINFER_CUTLASS_MXFP4_MXFP8", mx::layout::Arch::sm100, Role::w13_weight, 12, 1, false},
    {"bytes/AITER 16x16", "AITER_MXFP4_MXFP4", mx::layout::Arch::gfx950, Role::w13_weight, 12, 1, false},
    {"bytes/AITER a16w4", "AITER_MXFP4_BF16", mx::layout::Arch::gfx950, Role::w13_weight, 12, 1, false},
    {"bytes/128x4 scales", "FLASHINFER_TRTLLM_MXFP4_BF16", mx::layout::Arch::sm100, Role::w13_weight_scale, 192, 1, false},
    {"bytes/Hopper scales", "TRITON", mx::layout::Arch::sm90, Role::w13_weight_scale, 192, 1, false},
    {"nibbles/MARLIN", "MARLIN", mx::layout::Arch::sm90, Role::w13_weight, 12, 1, false},
    {"nibbles/CPU", "CPU", mx::layout::Arch::cpu, Role::w13_weight, 12, 1, false},
    {"nibbles/HUMMING", "HUMMING", mx::layout::Arch::sm90, Role::w13_weight, 12, 1, false},
    {"bits/TRITON Hopper", "TRITON", mx::layout::Arch::sm90, Role::w13_weight, 12, 1, false},
    {"bits/CUTLASS sm90", "FLASHINFER_CUTLASS_MXFP4_BF16", mx::layout::Arch::sm90, Role::w13_weight, 12, 1, false},
};

const bool kRegistered = [] {
  for (Row row : kRows) {
    for (row.threads = 1; row.threads <= 2; ++row.threads) {
      for (const bool undo : {false, true}) {
        row.undo = undo;
        const std::string name = std::string("relayout/") + row.name + (undo ? "/undo" : "/apply") + "/threads:" + std::to_string(row.threads);
        benchmark::RegisterBenchmark(name.c_str(), [row](benchmark::State& state) { convert(state, row); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  return true;
}();

}  // namespace
