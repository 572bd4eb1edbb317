// How vLLM's Triton kernels compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"

namespace mx::sim {
namespace {

using layout::WeightFormat;

/// Weights that the layout table has no row for stay as they were loaded.
constexpr ExecutionRow triton(WeightFormat format, std::string_view backend) {
  ExecutionRow triton = fp8_row(format, backend, {}, Grounds::published, "E/triton_moe.py, fused_batched_moe.py; fused_moe_kernel (read)");
  if (format == WeightFormat::fp8_block) triton.unit = MatrixUnit::fp8_blocks_in_order;
  triton.epilogue = EpilogueScale::activation_first;
  triton.bias = BiasEntry::f32;
  triton.swiglu_oai = kOaiWired;
  triton.slot = SlotRule::weighted_rounded;
  triton.sum = SlotSum::bf16;
  return triton;
}

constexpr std::array kRows{
    triton(WeightFormat::fp8_tensor, "TRITON"),
    triton(WeightFormat::fp8_channel, "TRITON"),
    triton(WeightFormat::fp8_block, "TRITON"),
    triton(WeightFormat::fp8_tensor, "BATCHED_TRITON"),
    triton(WeightFormat::fp8_channel, "BATCHED_TRITON"),
    triton(WeightFormat::fp8_block, "BATCHED_TRITON"),
};

}  // namespace

std::span<const ExecutionRow> triton_moe_executions() { return kRows; }

}  // namespace mx::sim
