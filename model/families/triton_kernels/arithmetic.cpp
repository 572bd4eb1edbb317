// How triton_kernels computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/launch.hpp"
#include "model/families/triton_kernels/family.hpp"
#include "model/families/triton_kernels_product.hpp"

namespace mx::families {
namespace {

constexpr std::array kUnfusedRuns{Recording{"golden/witness/hardware/mxfp4_layer_h100", "triton_unfused"}};
constexpr std::array kHeldUnfused{HeldOn{on_sm90, Grounds::run, kUnfusedRuns}};

/// No tile changes a bit. Source: outputs of an H100 (golden/witness/hardware).
void launch(const LaunchFacts& facts, Launched& made) {
  made.reading.shifts_scales = on_nvidia(facts.operation.arch);
  if (facts.operation.arch != Arch::sm90) return;
  const auto release = facts.operation.triton_kernels_3_6 ? triton::Release::v3_6 : triton::Release::v3_5;
  const std::int64_t read = triton::k_read(release, facts.sizes.hidden, 1);
  if (read < facts.sizes.hidden) made.reading.odd_rows_end = read;
}

constexpr std::array kStages{Recording{"golden/witness/numerics/moe_0", "triton."}};

constexpr ExecutionRow fused() {
  ExecutionRow row = mxfp4_row("TRITON", Grounds::run, "triton_kernels matmul_ogs, swiglu_fn: outputs of an H200 with their stages");
  row.rounds_h13 = false;
  row.swiglu_oai = wired("swiglu_oai_triton");
  row.silu = kRefused;
  row.callback = true;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.order = SlotOrder::expert;
  row.recordings = kStages;
  row.launch = launch;
  return row;
}

constexpr ExecutionRow unfused() {
  ExecutionRow row = mxfp4_row("TRITON_UNFUSED", Grounds::read, "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts (read)");
  row.swiglu_oai = takes("swiglu_oai_cuda", true, false, true);
  row.silu = kTorchLimitedSilu;
  row.others = kApplied;
  row.callback = true;
  row.changes = kAppliedChanges;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.sum = SlotSum::moe_sum;
  row.launch = launch;
  row.held = kHeldUnfused;
  return row;
}

constexpr std::array kRows{
    fused(),
    unfused(),
};

}  // namespace

constinit const std::span<const ExecutionRow> kTritonKernelsExecutions{kRows};

}  // namespace mx::families
