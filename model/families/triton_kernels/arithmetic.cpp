// How triton_kernels computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"

namespace mx::sim {
namespace {

constexpr ExecutionRow fused() {
  ExecutionRow row = mxfp4_row("TRITON", Grounds::verified, "triton_kernels matmul_ogs, swiglu_fn: outputs of an H200 with their stages");
  row.rounds_h13 = false;
  row.swiglu_oai = wired("swiglu_oai_triton");
  row.silu = kRefused;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.order = SlotOrder::expert;
  return row;
}

constexpr ExecutionRow unfused() {
  ExecutionRow row = mxfp4_row("TRITON_UNFUSED", Grounds::published, "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts (read)");
  row.swiglu_oai = takes("swiglu_oai_cuda", true, false, true);
  row.silu = kLimitedSilu;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.sum = SlotSum::bf16;
  return row;
}

constexpr std::array kRows{
    fused(),
    unfused(),
};

}  // namespace

std::span<const ExecutionRow> triton_kernels_executions() { return kRows; }

}  // namespace mx::sim
