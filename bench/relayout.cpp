// Layout conversion of expert tensors of about 100 MB, beside a plain non-temporal copy of as many bytes in the same process.

#include <benchmark/benchmark.h>

#include <string>

#include "bench/beside_copy.hpp"
#include "bench/machine.hpp"
#include "checkpoint/rounding.hpp"
#include "kernels/relayout/plan.hpp"
#include "model/families/memory.hpp"

namespace {

using mx::layout::Layout;
using mx::layout::Role;

/// One conversion: the expert tensor of a gpt-oss layer for a backend's device, from a checkpoint or into the panels of the CPU's engines.
struct Row {
  const char* name;  ///< "CLASS/LAYOUT"; the class says which share of a copy is asked for
  const char* backend;
  mx::families::Arch arch;
  Role role;
  std::int64_t experts;
  enum { from_checkpoint, into_panels } kind = from_checkpoint;
};

/// w13's codes as kernels/moe reads them: 16 columns of gate beside those of up, dwords of eight codes, even codes in the lower half.
Layout panels_of(const Layout& tensor) {
  Layout panels(tensor.axes_before(0), 4);
  panels.split("I", 16, "panel", "lane").split("K", 8, "octet", "place").split("place", 2, "pair", "parity");
  return panels.permute({"E", "panel", "octet", "half", "lane", "parity", "pair"});
}

mx::kernels::relayout::Plan plan_of(const Row& row) {
  mx::families::Setting setting{.sizes = {row.experts, 2880, 2880}, .padded = {}, .form = mx::layout::SourceOrder::gpt_oss, .arch = row.arch};
  setting.padded = setting.sizes;
  setting.padded = mx::checkpoint::rounded_up(row.backend, setting);
  const mx::layout::TensorPlan tensor = mx::families::find_backend_layout(row.backend)->build(row.role, setting);
  if (row.kind == Row::into_panels) return mx::kernels::relayout::plan(tensor.layout, panels_of(tensor.layout));
  return mx::kernels::relayout::plan(mx::layout::canonical(row.role, setting.sizes, setting.form), tensor);
}

void convert(benchmark::State& state, const Row& row, bool undo, int threads) {
  const auto plan = plan_of(row);
  const mx::bench::Memory a(static_cast<std::size_t>(plan.from_bytes()));
  const mx::bench::Memory b(static_cast<std::size_t>(plan.to_bytes()));
  const std::span<std::uint8_t> source = (undo ? b : a).words<std::uint8_t>();
  const std::span<std::uint8_t> target = (undo ? a : b).words<std::uint8_t>();
  const auto run = undo ? mx::kernels::relayout::undo : mx::kernels::relayout::apply;
  mx::bench::beside_copy(state, source, target, threads, [&] { run(plan, source, target, threads); });
  const auto stages = undo ? plan.undo_stages() : plan.stages();
  state.SetLabel(std::string(stages.front().kind) + (stages.size() > 1 ? " in two passes, " : ", ") + std::string(stages.front().kernel));
}

constexpr Row kRows[]{
    {"rows/TRTLLM", "FLASHINFER_TRTLLM_MXFP4_BF16", mx::families::Arch::sm100, Role::w13_weight, 12},
    {"rows/CUTLASS", "FLASHINFER_CUTLASS_MXFP4_MXFP8", mx::families::Arch::sm100, Role::w13_weight, 12},
    {"rows/DEEPGEMM", "DEEPGEMM_MXFP4", mx::families::Arch::sm100, Role::w13_weight, 12},
    {"bytes/TRITON", "TRITON", mx::families::Arch::sm100, Role::w13_weight, 12},
    {"bytes/AITER 16x16", "AITER_MXFP4_MXFP4", mx::families::Arch::gfx950, Role::w13_weight, 12},
    {"bytes/AITER a16w4", "AITER_MXFP4_BF16", mx::families::Arch::gfx950, Role::w13_weight, 12},
    {"bytes/128x4 scales", "FLASHINFER_TRTLLM_MXFP4_BF16", mx::families::Arch::sm100, Role::w13_weight_scale, 192},
    {"bytes/Hopper scales", "TRITON", mx::families::Arch::sm90, Role::w13_weight_scale, 192},
    {"bytes/CDNA4 scales", "TRITON_UNFUSED", mx::families::Arch::gfx950, Role::w13_weight_scale, 192},
    {"bytes/MARLIN scales", "MARLIN", mx::families::Arch::sm90, Role::w13_weight_scale, 192},
    {"nibbles/MARLIN", "MARLIN", mx::families::Arch::sm90, Role::w13_weight, 12},
    {"nibbles/CPU", "CPU", mx::families::Arch::cpu, Role::w13_weight, 12},
    {"nibbles/HUMMING", "HUMMING", mx::families::Arch::sm90, Role::w13_weight, 12},
    {"nibbles/TRTLLM to panels", "FLASHINFER_TRTLLM_MXFP4_BF16", mx::families::Arch::sm100, Role::w13_weight, 12, Row::into_panels},
    {"nibbles/MARLIN to panels", "MARLIN", mx::families::Arch::sm90, Role::w13_weight, 12, Row::into_panels},
    {"bits/TRITON Hopper", "TRITON", mx::families::Arch::sm90, Role::w13_weight, 12},
    {"bits/CUTLASS sm90", "FLASHINFER_CUTLASS_MXFP4_BF16", mx::families::Arch::sm90, Role::w13_weight, 12},
    {"bits/TRITON Hopper to panels", "TRITON", mx::families::Arch::sm90, Role::w13_weight, 12, Row::into_panels},
};

const bool kRegistered = [] {
  for (const Row& row : kRows) {
    for (const int threads : {1, 2}) {
      for (const bool undo : {false, true}) {
        const std::string name = std::string("relayout/") + row.name + (undo ? "/undo" : "/apply") + "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { convert(state, row, undo, threads); })
            ->UseManualTime()
            ->Iterations(mx::bench::kTurns)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  return true;
}();

}  // namespace
