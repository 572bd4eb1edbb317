// How vLLM's CUTLASS kernels compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/launch.hpp"
#include "model/families/vllm_cutlass/family.hpp"
#include "model/families/vllm_cutlass_product.hpp"

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
  cutlass.callback = true;
  cutlass.changes = kAppliedChanges;
  return cutlass;
}

constexpr std::array kRuns{Recording{"golden/witness/hardware/fp8_products_h100", "cutlass.channel"},
                           Recording{"golden/witness/hardware/fp8_quant_h100", "token.cuda"},
                           Recording{"golden/witness/hardware/fp8_quant_h100", "silu_and_mul.cuda"}};
constexpr std::array kHeld{HeldOn{on_sm90, Grounds::run_by_parts, kRuns}};

/// Operands are exchanged for few slots.
void launch(const LaunchFacts& facts, Launched& made) {
  if (facts.operation.arch != Arch::sm90) return;
  const std::int64_t slots = facts.tokens * facts.top_k;
  made.epilogue = vllm_cutlass::scale_order(slots);
  made.text = std::to_string(slots) + " slots" + (*made.epilogue == EpilogueScale::activation_first ? ": operands are exchanged" : "");
}

constexpr ExecutionRow fp8(WeightFormat format, std::string_view backend) {
  ExecutionRow cutlass =
      fp8_row(format, backend, {}, Grounds::read, "E/cutlass_moe.py CutlassExpertsFp8; vllm csrc/quantization/w8a8/cutlass/moe (read)");
  cutlass.epilogue = EpilogueScale::weight_first;
  cutlass.launch = launch;
  cutlass.swiglu_oai = kOaiWired;
  cutlass.silu = kLimitedSilu;
  cutlass.others = kApplied;
  cutlass.callback = true;
  cutlass.changes = kAppliedChanges;
  return cutlass;
}

constexpr ExecutionRow held(ExecutionRow row) {
  row.held = kHeld;
  return row;
}

constexpr std::array kRows{
    nvfp4(),
    held(fp8(WeightFormat::fp8_tensor, "VLLM_CUTLASS")),
    held(fp8(WeightFormat::fp8_channel, "VLLM_CUTLASS")),
    fp8(WeightFormat::fp8_tensor, "BATCHED_VLLM_CUTLASS"),
    fp8(WeightFormat::fp8_channel, "BATCHED_VLLM_CUTLASS"),
};

}  // namespace

constinit const std::span<const ExecutionRow> kVllmCutlassExecutions{kRows};

}  // namespace mx::families
