// Layout conversion of expert tensors of about 100 MB, beside a plain non-temporal copy of as many bytes in the same process. Conversion and copy
// take turns; `share` is the ratio of the medians of their rates. One thread is timed by its processor time.

#include <benchmark/benchmark.h>
#include <omp.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "bench/machine.hpp"
#include "kernels/relayout/plan.hpp"
#include "model/layout/backend.hpp"
#include "model/layout/rounding.hpp"

namespace {

using mx::layout::Layout;
using mx::layout::Role;

/// Of each figure; a repetition makes its buffers anew.
constexpr int kIterations = 15;

/// One conversion: the expert tensor of a gpt-oss layer for a backend's device, from a checkpoint or into the panels of the CPU's engines.
struct Row {
  const char* name;  ///< "CLASS/LAYOUT"; the class says which share of a copy is asked for
  const char* backend;
  mx::layout::Arch arch;
  Role role;
  std::int64_t experts;
  enum { from_checkpoint, into_panels } kind = from_checkpoint;
};

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
    mx::bench::stream_copy(to.data() + first, from.data() + first, blocks * (t + 1) / n * 4096 - first);
  }
}

/// w13's codes as kernels/moe reads them: 16 columns of gate beside those of up, dwords of eight codes, even codes in the lower half.
Layout panels_of(const Layout& tensor) {
  Layout panels(tensor.axes_before(0), 4);
  panels.split("I", 16, "panel", "lane").split("K", 8, "octet", "place").split("place", 2, "pair", "parity");
  return panels.permute({"E", "panel", "octet", "half", "lane", "parity", "pair"});
}

mx::kernels::relayout::Plan plan_of(const Row& row) {
  mx::layout::Setting setting{.sizes = {row.experts, 2880, 2880}, .padded = {}, .form = mx::layout::SourceOrder::gpt_oss, .arch = row.arch};
  setting.padded = setting.sizes;
  setting.padded = mx::layout::rounded_up(row.backend, setting);
  const mx::layout::TensorPlan tensor = mx::layout::find_backend_layout(row.backend)->build(row.role, setting);
  if (row.kind == Row::into_panels) return mx::kernels::relayout::plan(tensor.layout, panels_of(tensor.layout));
  return mx::kernels::relayout::plan(mx::layout::canonical(row.role, setting.sizes, setting.form), tensor);
}

void convert(benchmark::State& state, const Row& row, bool undo, int threads) {
  const auto plan = plan_of(row);
  const mx::bench::Memory a(static_cast<std::size_t>(plan.from_bytes()));
  const mx::bench::Memory b(static_cast<std::size_t>(plan.to_bytes()));
  const std::span<std::uint8_t> source = (undo ? b : a).words<std::uint8_t>();
  const std::span<std::uint8_t> target = (undo ? a : b).words<std::uint8_t>();
  fill(source);
  const auto run = undo ? mx::kernels::relayout::undo : mx::kernels::relayout::apply;
  run(plan, source, target, threads);
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
    run(plan, source, target, threads);
    const double time = seconds(threads) - begin;
    state.SetIterationTime(time);
    moves.push_back(moved / time);
  }
  const auto stages = undo ? plan.undo_stages() : plan.stages();
  state.SetLabel(std::string(stages.front().kind) + (stages.size() > 1 ? " in two passes, " : ", ") + std::string(stages.front().kernel));
  state.counters["GB/s"] = median(moves) / 1e9;
  state.counters["copy GB/s"] = median(copies) / 1e9;
  state.counters["share"] = median(moves) / median(copies);
}

constexpr Row kRows[]{
    {"rows/TRTLLM", "FLASHINFER_TRTLLM_MXFP4_BF16", mx::layout::Arch::sm100, Role::w13_weight, 12},
    {"rows/CUTLASS", "FLASHINFER_CUTLASS_MXFP4_MXFP8", mx::layout::Arch::sm100, Role::w13_weight, 12},
    {"rows/DEEPGEMM", "DEEPGEMM_MXFP4", mx::layout::Arch::sm100, Role::w13_weight, 12},
    {"bytes/TRITON", "TRITON", mx::layout::Arch::sm100, Role::w13_weight, 12},
    {"bytes/AITER 16x16", "AITER_MXFP4_MXFP4", mx::layout::Arch::gfx950, Role::w13_weight, 12},
    {"bytes/AITER a16w4", "AITER_MXFP4_BF16", mx::layout::Arch::gfx950, Role::w13_weight, 12},
    {"bytes/128x4 scales", "FLASHINFER_TRTLLM_MXFP4_BF16", mx::layout::Arch::sm100, Role::w13_weight_scale, 192},
    {"bytes/Hopper scales", "TRITON", mx::layout::Arch::sm90, Role::w13_weight_scale, 192},
    {"bytes/CDNA4 scales", "TRITON_UNFUSED", mx::layout::Arch::gfx950, Role::w13_weight_scale, 192},
    {"bytes/MARLIN scales", "MARLIN", mx::layout::Arch::sm90, Role::w13_weight_scale, 192},
    {"nibbles/MARLIN", "MARLIN", mx::layout::Arch::sm90, Role::w13_weight, 12},
    {"nibbles/CPU", "CPU", mx::layout::Arch::cpu, Role::w13_weight, 12},
    {"nibbles/HUMMING", "HUMMING", mx::layout::Arch::sm90, Role::w13_weight, 12},
    {"nibbles/TRTLLM to panels", "FLASHINFER_TRTLLM_MXFP4_BF16", mx::layout::Arch::sm100, Role::w13_weight, 12, Row::into_panels},
    {"nibbles/MARLIN to panels", "MARLIN", mx::layout::Arch::sm90, Role::w13_weight, 12, Row::into_panels},
    {"bits/TRITON Hopper", "TRITON", mx::layout::Arch::sm90, Role::w13_weight, 12},
    {"bits/CUTLASS sm90", "FLASHINFER_CUTLASS_MXFP4_BF16", mx::layout::Arch::sm90, Role::w13_weight, 12},
    {"bits/TRITON Hopper to panels", "TRITON", mx::layout::Arch::sm90, Role::w13_weight, 12, Row::into_panels},
};

const bool kRegistered = [] {
  for (const Row& row : kRows) {
    for (const int threads : {1, 2}) {
      for (const bool undo : {false, true}) {
        const std::string name = std::string("relayout/") + row.name + (undo ? "/undo" : "/apply") + "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { convert(state, row, undo, threads); })
            ->UseManualTime()
            ->Iterations(kIterations)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  return true;
}();

}  // namespace
