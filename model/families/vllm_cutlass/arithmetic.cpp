// How vLLM's CUTLASS kernels compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/vllm_cutlass/family.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr ExecutionRow nvfp4() {
  ExecutionRow cutlass = nvfp4_row("VLLM_CUTLASS", ScaleMemory::tile_128x4, ExpertAddress::refused, Grounds::read,
                                   "E/cutlass_moe.py CutlassExpertsFp4; vllm csrc nvfp4_blockwise_moe_kernel.cu (read)");
  cutlass.by = QuantizedBy::kernel;
  cutlass.rounds_h13 = true;
  cutlass.swiglu_oai = kOaiWired;
  cutlass.silu = kLimitedSilu;
  cutlass.others = kApplied;
  return cutlass;
}

constexpr std::array kFp8Differences{
    KnownDifference{on_sm90, "64 slots or fewer: operands are exchanged, and the activation's scale is multiplied first", kH100}};

constexpr ExecutionRow fp8(WeightFormat format, std::string_view backend) {
  ExecutionRow cutlass =
      fp8_row(format, backend, {}, Grounds::read, "E/cutlass_moe.py CutlassExpertsFp8; vllm csrc/quantization/w8a8/cutlass/moe (read)");
  cutlass.epilogue = EpilogueScale::weight_first;
  cutlass.differences = kFp8Differences;
  cutlass.swiglu_oai = kOaiWired;
  cutlass.silu = kLimitedSilu;
  cutlass.others = kApplied;
  return cutlass;
}

constexpr std::array kRows{
    nvfp4(),
    fp8(WeightFormat::fp8_tensor, "VLLM_CUTLASS"),
    fp8(WeightFormat::fp8_channel, "VLLM_CUTLASS"),
    fp8(WeightFormat::fp8_tensor, "BATCHED_VLLM_CUTLASS"),
    fp8(WeightFormat::fp8_channel, "BATCHED_VLLM_CUTLASS"),
};

}  // namespace

constinit const std::span<const ExecutionRow> kVllmCutlassExecutions{kRows};

}  // namespace mx::families
