// How the 8 NVFP4 backends compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row; spec engine 1.2, 1.5, 6.1.

#include <array>

#include "model/families/arithmetic.hpp"

namespace mx::sim {
namespace {

using layout::SourceOrder;
using layout::WeightFormat;

constexpr moe::ActivationConstants kOai{0x3FD9DB23U, 0x3F800000U, 0x40E00000U, 0};  // 1.702, 1, 7
constexpr moe::ActivationConstants kNone{0, 0, 0, 0};
constexpr ActivationUse kRefused{{}, kNone, false, false, false};
constexpr ActivationUse kSilu{"silu_and_mul", kNone, false, false, false};
constexpr ActivationUse kLimitedSilu{"silu_and_mul", kNone, false, false, true, "silu_and_mul_clamp_cuda"};
constexpr ActivationUse kOaiWired{"swiglu_oai_cuda", kOai, false, false, false};

constexpr ExecutionRow row(std::string_view backend, ScaleMemory scales, ExpertAddress address, Grounds grounds, std::string_view source) {
  return {.format = WeightFormat::nvfp4,
          .backend = backend,
          .layout = backend,
          .unit = MatrixUnit::block_scaled,
          .first = "nvfp4",
          .second = "nvfp4",
          .keyed = false,
          .by = QuantizedBy::prepare,
          .scales = scales,
          .epilogue = EpilogueScale::product,
          .global = GlobalScale::epilogue,
          .bias = BiasEntry::dropped,
          .rounds_h13 = false,
          .swiglu_oai = kRefused,
          .silu = kSilu,
          .oai_order = SourceOrder::gpt_oss,
          .silu_order = SourceOrder::standard,
          .bf16_weights = false,
          .slot = SlotRule::rounded,
          .sum = SlotSum::f32,
          .order = SlotOrder::position,
          .address = address,
          .padding = {},
          .grounds = grounds,
          .source = source};
}

constexpr ExecutionRow trtllm() {
  ExecutionRow trtllm = row("FLASHINFER_TRTLLM", ScaleMemory::row_major, ExpertAddress::offset, Grounds::assumed,
                            "E/trtllm_nvfp4_moe.py; fi FP4BlockScaleLauncher (read); rounding lies in cubins");
  trtllm.bf16_weights = true;
  trtllm.padding = {256, 16, 64};
  return trtllm;
}

/// The constants of SwiGLU-OAI are never passed: the layer becomes plain SwiGLU on halves.
constexpr ExecutionRow flashinfer_cutlass() {
  ExecutionRow cutlass = row("FLASHINFER_CUTLASS", ScaleMemory::tile_128x4, ExpertAddress::offset, Grounds::published,
                             "E/flashinfer_cutlass_moe.py; fi csrc/fused_moe/cutlass_backend (read)");
  cutlass.swiglu_oai = kSilu;
  cutlass.oai_order = SourceOrder::standard;
  cutlass.silu = kLimitedSilu;
  return cutlass;
}

/// Block scales times the checkpoint's own scale, in e4m3 again; activations with a scale of 1.
constexpr ExecutionRow b12x() {
  ExecutionRow b12x = row("FLASHINFER_B12X", ScaleMemory::tile_128x4, ExpertAddress::refused, Grounds::published,
                          "E/flashinfer_b12x_moe.py; fi flashinfer/fused_moe/cute_dsl/b12x_moe.py (read)");
  b12x.by = QuantizedBy::kernel;
  b12x.global = GlobalScale::refolded;
  return b12x;
}

constexpr ExecutionRow vllm_cutlass() {
  ExecutionRow cutlass = row("VLLM_CUTLASS", ScaleMemory::tile_128x4, ExpertAddress::refused, Grounds::published,
                             "E/cutlass_moe.py CutlassExpertsFp4; vllm csrc nvfp4_blockwise_moe_kernel.cu (read)");
  cutlass.by = QuantizedBy::kernel;
  cutlass.rounds_h13 = true;
  cutlass.swiglu_oai = kOaiWired;
  return cutlass;
}

constexpr ExecutionRow cutedsl() {
  return row("FLASHINFER_CUTEDSL", ScaleMemory::row_major, ExpertAddress::offset, Grounds::published, "E/flashinfer_cutedsl_moe.py (read)");
}

/// Rows arrive as bf16, an expert's at a time; the experts quantize them.
constexpr ExecutionRow cutedsl_batched() {
  ExecutionRow batched = row("FLASHINFER_CUTEDSL_BATCHED", ScaleMemory::tile_128x4, ExpertAddress::map, Grounds::published,
                             "E/flashinfer_cutedsl_batched_moe.py; prepare_finalize/deepep_ll.py leaves nvfp4 as bf16 (read)");
  batched.by = QuantizedBy::kernel;
  return batched;
}

constexpr ExecutionRow marlin() {
  ExecutionRow marlin = row("MARLIN", ScaleMemory::row_major, ExpertAddress::map, Grounds::published,
                            "E/marlin_moe.py; vllm csrc/moe/marlin_moe_wna16 (read); its split of k is not modelled");
  marlin.unit = MatrixUnit::bf16;
  marlin.first = "none";
  marlin.second = "none";
  marlin.bias = BiasEntry::after_bf16;
  marlin.rounds_h13 = true;
  marlin.swiglu_oai = kOaiWired;
  marlin.silu = kLimitedSilu;
  marlin.slot = SlotRule::rounded_weighted_again;
  marlin.sum = SlotSum::bf16;
  return marlin;
}

/// Weights are dequantized whole; the layout table has no row for weights that stay as they are.
constexpr ExecutionRow emulation() {
  ExecutionRow emulation = row("EMULATION", ScaleMemory::row_major, ExpertAddress::map, Grounds::published,
                               "E/nvfp4_emulation_moe.py Nvfp4QuantizationEmulationTritonExperts (read)");
  emulation.layout = {};
  emulation.unit = MatrixUnit::bf16;
  emulation.first = "nvfp4-emulated";
  emulation.second = "nvfp4-emulated";
  emulation.by = QuantizedBy::kernel;
  emulation.global = GlobalScale::operand;
  emulation.bias = BiasEntry::f32;
  emulation.rounds_h13 = true;
  emulation.swiglu_oai = kOaiWired;
  emulation.slot = SlotRule::weighted_rounded;
  emulation.sum = SlotSum::bf16;
  return emulation;
}

constexpr std::array<ExecutionRow, 8> kRows{
    trtllm(), flashinfer_cutlass(), cutedsl(), cutedsl_batched(), b12x(), vllm_cutlass(), marlin(), emulation(),
};

}  // namespace

std::span<const ExecutionRow> nvfp4_executions() { return kRows; }

}  // namespace mx::sim
