// How vLLM's Triton kernels compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/triton_moe/family.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr std::array kDifferences{
    KnownDifference{on_sm90, "tiles of 16 or 32 tokens: products run as fp16 on mma.sync", kH100, deployment::before(deployment::kVllm2026_08)},
    KnownDifference{on_sm90, "tiles of 16 or 32 tokens: operands are exchanged", kH100, deployment::since(deployment::kVllm2026_08)},
    KnownDifference{on_sm90, "scales per 128: the step of k of the launch decides where sums begin anew", kH100},
    KnownDifference{on_sm90, "between the products of scales per 128 nothing is rounded to bf16", kH100},
    KnownDifference{on_sm90, "tiles of 16 or 32 tokens: of scales per 128 the weight's is multiplied first", kH100,
                    deployment::since(deployment::kVllm2026_08)},
    KnownDifference{on_nvidia, "SwiGLU takes an up of -0 as +0", kH100, deployment::since(deployment::kVllm2026_08)},
};
constexpr std::array kBatchedDifferences{
    KnownDifference{on_sm90, "scales per 128 and a tuned step of k of 256: every second block takes the scales of the block before", kH100},
    KnownDifference{on_sm90, "tiles of 16 or 32 tokens: products run as fp16 on mma.sync", kH100},
};

/// Weights that the layout table has no row for stay as they were loaded.
constexpr ExecutionRow triton(WeightFormat format, std::string_view backend, SlotSum sum, std::span<const KnownDifference> differences) {
  ExecutionRow triton = fp8_row(format, backend, {}, Grounds::read, "E/triton_moe.py, fused_batched_moe.py; fused_moe_kernel (read)");
  if (format == WeightFormat::fp8_block) triton.unit = MatrixUnit::fp8_blocks_in_order;
  triton.epilogue = EpilogueScale::activation_first;
  triton.bias = BiasEntry::f32;
  triton.swiglu_oai = kOaiWired;
  triton.silu = kTorchLimitedSilu;
  triton.others = kApplied;
  triton.slot = SlotRule::weighted_rounded;
  triton.sum = sum;
  triton.differences = differences;
  return triton;
}

constexpr std::array kRows{
    triton(WeightFormat::fp8_tensor, "TRITON", SlotSum::moe_sum, kDifferences),
    triton(WeightFormat::fp8_channel, "TRITON", SlotSum::moe_sum, kDifferences),
    triton(WeightFormat::fp8_block, "TRITON", SlotSum::moe_sum, kDifferences),
    triton(WeightFormat::fp8_tensor, "BATCHED_TRITON", SlotSum::bf16, kBatchedDifferences),
    triton(WeightFormat::fp8_channel, "BATCHED_TRITON", SlotSum::bf16, kBatchedDifferences),
    triton(WeightFormat::fp8_block, "BATCHED_TRITON", SlotSum::bf16, kBatchedDifferences),
};

}  // namespace

constinit const std::span<const ExecutionRow> kTritonMoeExecutions{kRows};

}  // namespace mx::families
