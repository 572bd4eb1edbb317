// How triton_kernels computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/triton_kernels/family.hpp"

namespace mx::families {
namespace {

constexpr KnownDifference kScaleBytes{on_nvidia, "scale bytes 0 and 255: the kernel reads 0 as zero and 255 as infinity", kH100};
constexpr std::array kFusedDifferences{
    KnownDifference{on_sm90, "hidden % 64 = 32: the last 32 of k of every second row of w13 are not read", kH100},
    KnownDifference{on_sm90, "NaN in up: clamped to 7 by triton_kernels 3.5, to -7 by 3.6", kH100},
    kScaleBytes,
};
constexpr std::array kUnfusedDifferences{
    KnownDifference{on_sm90, "hidden % 64 = 32: the last 32 of k of every second row of w13 are not read", kH100},
    kScaleBytes,
};
constexpr std::array kStages{Recording{"golden/witness/numerics/moe_0", "triton."}};

constexpr ExecutionRow fused() {
  ExecutionRow row = mxfp4_row("TRITON", Grounds::run, "triton_kernels matmul_ogs, swiglu_fn: outputs of an H200 with their stages");
  row.rounds_h13 = false;
  row.swiglu_oai = wired("swiglu_oai_triton");
  row.silu = kRefused;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.order = SlotOrder::expert;
  row.recordings = kStages;
  row.differences = kFusedDifferences;
  return row;
}

constexpr ExecutionRow unfused() {
  ExecutionRow row = mxfp4_row("TRITON_UNFUSED", Grounds::read, "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts (read)");
  row.swiglu_oai = takes("swiglu_oai_cuda", true, false, true);
  row.silu = kLimitedSilu;
  row.others = kApplied;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.sum = SlotSum::moe_sum;
  row.differences = kUnfusedDifferences;
  return row;
}

constexpr std::array kRows{
    fused(),
    unfused(),
};

}  // namespace

constinit const std::span<const ExecutionRow> kTritonKernelsExecutions{kRows};

}  // namespace mx::families
