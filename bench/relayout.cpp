// Layout conversion of expert tensors of about 100 MB, beside a plain non-temporal copy of as many bytes in the same process. Conversion and copy
// take turns; `share` is the ratio of the medians of their rates.

#include <benchmark/benchmark.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/stream_copy.hpp"
#include "kernels/relayout/plan.hpp"
#include "model/layout/backend.hpp"
#include "model/layout/rounding.hpp"

namespace {

using mx::layout::Layout;
using mx::layout::Role;

/// Memory in large pages where the system has them, so that both sides of the comparison have the same.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes) : size_(static_cast<std::size_t>(bytes)), reserved_((size_ + 2 * kPage) / kPage * kPage) {
    memory_ = mmap(nullptr, reserved_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    madvise(memory_, reserved_, MADV_HUGEPAGE);
    const auto address = reinterpret_cast<std::uintptr_t>(memory_);
    data_ = static_cast<std::uint8_t*>(memory_) + (kPage - address % kPage) % kPage;
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < size_; ++i) data_[i] = static_cast<std::uint8_t>((state = state * 6364136223846793005U + 1442695040888963407U) >> 56);
  }
  ~Buffer() { munmap(memory_, reserved_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::span<std::uint8_t> bytes() const { return {data_, size_}; }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 21;

  std::size_t size_;
  std::size_t reserved_;
  void* memory_;
  std::uint8_t* data_;
};

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

void copy_all(std::span<std::uint8_t> target, std::span<const std::uint8_t> source, int threads) {
  const std::size_t blocks = std::min(target.size(), source.size()) / 4096;
#pragma omp parallel num_threads(threads)
  {
    const auto t = static_cast<std::size_t>(omp_get_thread_num());
    const auto n = static_cast<std::size_t>(omp_get_num_threads());
    const std::size_t first = blocks * t / n * 4096;
    mx::bench::stream_copy(target.data() + first, source.data() + first, blocks * (t + 1) / n * 4096 - first);
  }
}

void convert(benchmark::State& state, const Row& row) {
  mx::layout::Setting setting{.sizes = {row.experts, 2880, 2880}, .padded = {}, .form = mx::layout::SourceOrder::gpt_oss, .arch = row.arch};
  setting.padded = setting.sizes;
  setting.padded = mx::layout::rounded_up(row.backend, setting);
  const mx::layout::TensorPlan tensor = mx::layout::find_backend_layout(row.backend)->build(row.role, setting);
  const auto plan = mx::kernels::relayout::plan(mx::layout::canonical(row.role, setting.sizes, setting.form), tensor);
  const Buffer a(plan.from_bytes());
  const Buffer b(plan.to_bytes());
  const std::span<std::uint8_t> source = row.undo ? b.bytes() : a.bytes();
  const std::span<std::uint8_t> target = row.undo ? a.bytes() : b.bytes();
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
