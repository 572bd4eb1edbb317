// How the 16 MXFP4 backends compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row; spec engine 1.1, 1.4, 1.5, 3.2, 4.

#include <array>

#include "model/families/arithmetic.hpp"

namespace mx::sim {
namespace {

using layout::SourceOrder;
using layout::WeightFormat;
using moe::ActivationConstants;

constexpr ActivationConstants kOai{0x3FD9DB23U, 0x3F800000U, 0x40E00000U, 0};  // 1.702, 1, 7
constexpr ActivationConstants kNone{0, 0, 0, 0};

constexpr ActivationUse kRefused{{}, kNone, false, false, false};
/// The constants of SwiGLU-OAI are compiled in.
constexpr ActivationUse wired(std::string_view row) { return {row, kOai, false, false, false}; }
constexpr ActivationUse takes(std::string_view row, bool alpha, bool beta, bool limit) { return {row, kOai, alpha, beta, limit}; }
constexpr ActivationUse kSilu{"silu_and_mul", kNone, false, false, false};
constexpr ActivationUse kLimitedSilu{"silu_and_mul", kNone, false, false, true, "silu_and_mul_clamp_cuda"};

/// What most 16-bit kernels share; each row changes what is its own.
constexpr ExecutionRow sixteen_bit(std::string_view backend, Grounds grounds, std::string_view source) {
  return {.format = WeightFormat::mxfp4,
          .backend = backend,
          .layout = backend,
          .unit = MatrixUnit::bf16,
          .first = "none",
          .second = "none",
          .keyed = false,
          .by = QuantizedBy::prepare,
          .scales = ScaleMemory::row_major,
          .epilogue = EpilogueScale::product,
          .global = GlobalScale::epilogue,
          .bias = BiasEntry::f32,
          .rounds_h13 = true,
          .swiglu_oai = wired("swiglu_oai_cuda"),
          .silu = kSilu,
          .oai_order = SourceOrder::gpt_oss,
          .silu_order = SourceOrder::standard,
          .bf16_weights = false,
          .slot = SlotRule::rounded,
          .sum = SlotSum::f32,
          .order = SlotOrder::position,
          .address = ExpertAddress::map,
          .padding = {},
          .grounds = grounds,
          .source = source};
}

/// TRT-LLM gen: everything of the model is passed on, the experts of a rank are a range, weights leave the routing kernel as bf16.
constexpr ExecutionRow trtllm(std::string_view backend, std::string_view activations) {
  ExecutionRow row = sixteen_bit(backend, Grounds::assumed,
                                 "E/trtllm_mxfp4_moe.py; fi csrc/trtllm_fused_moe_kernel_launcher.cu (read); activation and rounding lie in cubins");
  row.unit = activations == "none" ? MatrixUnit::bf16 : MatrixUnit::block_scaled;
  row.first = activations;
  row.second = activations;
  row.rounds_h13 = false;
  row.swiglu_oai = takes("swiglu_oai", true, true, true);
  row.silu = kLimitedSilu;
  row.bf16_weights = true;
  row.address = ExpertAddress::offset;
  return row;
}

/// FlashInfer CUTLASS: constants are always passed, so every activation is SwigluBias (spec engine 1.1).
constexpr ExecutionRow cutlass(std::string_view backend, std::string_view activations, ScaleMemory scales) {
  ExecutionRow row =
      sixteen_bit(backend, Grounds::published, "E/flashinfer_cutlass_moe.py; fi csrc/fused_moe/cutlass_backend/cutlass_fused_moe_kernels.cuh (read)");
  row.unit = activations == "none" ? MatrixUnit::bf16 : MatrixUnit::block_scaled;
  row.first = activations;
  row.second = activations;
  row.scales = scales;
  row.rounds_h13 = false;
  row.swiglu_oai = takes("swiglu_oai_flashinfer", false, false, true);
  row.silu = row.swiglu_oai;
  row.address = ExpertAddress::offset;
  return row;
}

/// Marlin: what leaves a product is bf16 before bias and weight, and so is the sum over at most four slots.
constexpr ExecutionRow marlin(std::string_view backend) {
  ExecutionRow row = sixteen_bit(backend, Grounds::published,
                                 "E/marlin_moe.py; vllm csrc/moe/marlin_moe_wna16, moe_align_sum_kernels.cu (read); its split of k is not modelled");
  row.bias = BiasEntry::after_bf16;
  row.silu = kLimitedSilu;
  row.slot = SlotRule::rounded_weighted_again;
  row.sum = SlotSum::bf16;
  return row;
}

constexpr ExecutionRow deepgemm() {
  ExecutionRow row = sixteen_bit("DEEPGEMM_MXFP4", Grounds::published, "E/deep_gemm_moe.py DeepGemmFP4Experts, deepgemm_unpermute_and_reduce (read)");
  row.unit = MatrixUnit::block_scaled;
  row.first = "fp8-group128-ue8m0";
  row.second = "fp8-group128-ue8m0";
  row.bias = BiasEntry::dropped;
  row.swiglu_oai = kRefused;
  row.silu = kLimitedSilu;
  return row;
}

constexpr ExecutionRow triton() {
  ExecutionRow row = sixteen_bit("TRITON", Grounds::verified, "triton_kernels matmul_ogs, swiglu_fn: outputs of an H200 with their stages");
  row.rounds_h13 = false;
  row.swiglu_oai = wired("swiglu_oai_triton");
  row.silu = kRefused;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.order = SlotOrder::expert;
  return row;
}

constexpr ExecutionRow triton_unfused() {
  ExecutionRow row = sixteen_bit("TRITON_UNFUSED", Grounds::published, "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts (read)");
  row.swiglu_oai = takes("swiglu_oai_cuda", true, false, true);
  row.silu = kLimitedSilu;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.sum = SlotSum::bf16;
  return row;
}

constexpr ExecutionRow aiter_bf16() {
  ExecutionRow row =
      sixteen_bit("AITER_MXFP4_BF16", Grounds::assumed, "E/rocm_aiter_moe.py, aiter swiglu_act_and_mul (read); sums lie in CK kernels");
  row.by = QuantizedBy::kernel;
  row.rounds_h13 = false;
  row.swiglu_oai = wired("swiglu_oai_aiter");
  return row;
}

constexpr ExecutionRow aiter_fp8() {
  ExecutionRow row = sixteen_bit("AITER_MXFP4_FP8", Grounds::assumed, "E/aiter_mxfp4_w4a8_moe.py (read): triton kernels with scales of the tensor");
  row.unit = MatrixUnit::block_scaled;
  row.first = "fp8-static";
  row.second = "fp8-static";
  row.by = QuantizedBy::kernel;
  row.rounds_h13 = false;
  row.swiglu_oai = wired("swiglu_oai_triton");
  row.silu = kRefused;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.order = SlotOrder::expert;
  row.address = ExpertAddress::ignored;
  return row;
}

constexpr ExecutionRow aiter_mxfp4() {
  ExecutionRow row = aiter_bf16();
  row.backend = "AITER_MXFP4_MXFP4";
  row.layout = row.backend;
  row.unit = MatrixUnit::block_scaled;
  row.first = "mxfp4";
  row.second = "mxfp4";
  row.bias = BiasEntry::dropped;
  return row;
}

constexpr ExecutionRow xpu() {
  ExecutionRow row = sixteen_bit("XPU", Grounds::assumed, "E/xpu_moe.py (read); the kernels are in vllm_xpu_kernels, which is not public text");
  row.by = QuantizedBy::kernel;
  row.address = ExpertAddress::offset;
  return row;
}

/// SwiGLU-OAI runs when alpha and limit are both given; a limit beside SILU is not looked at.
constexpr ExecutionRow cpu() {
  ExecutionRow row = sixteen_bit("CPU", Grounds::assumed, "E/cpu_moe.py; vllm csrc/cpu/sgl-kernels/moe.cpp (read); its sum over slots is not known");
  row.by = QuantizedBy::kernel;
  row.swiglu_oai = takes("swiglu_oai", true, false, true);
  row.address = ExpertAddress::ignored;
  return row;
}

constexpr ExecutionRow emulation() {
  ExecutionRow row = sixteen_bit("EMULATION", Grounds::published, "E/ocp_mx_emulation_moe.py on TritonExperts (read)");
  row.first = "mxfp4-emulated";
  row.second = "mxfp4-emulated";
  row.by = QuantizedBy::kernel;
  row.slot = SlotRule::weighted_rounded;
  row.sum = SlotSum::bf16;
  return row;
}

constexpr ExecutionRow humming() {
  ExecutionRow row = sixteen_bit("HUMMING", Grounds::assumed, "E/fused_humming_moe.py (read) with a 16-bit input schema; sums taken as Marlin's");
  row.slot = SlotRule::rounded_weighted_again;
  return row;
}

constexpr std::array<ExecutionRow, 16> kRows{
    deepgemm(),
    trtllm("FLASHINFER_TRTLLM_MXFP4_MXFP8", "mxfp8"),
    trtllm("FLASHINFER_TRTLLM_MXFP4_BF16", "none"),
    cutlass("FLASHINFER_CUTLASS_MXFP4_MXFP8", "mxfp8", ScaleMemory::tile_128x4),
    cutlass("FLASHINFER_CUTLASS_MXFP4_BF16", "none", ScaleMemory::row_major),
    marlin("BATCHED_MARLIN"),
    marlin("MARLIN"),
    aiter_bf16(),
    aiter_fp8(),
    aiter_mxfp4(),
    triton(),
    triton_unfused(),
    xpu(),
    cpu(),
    emulation(),
    humming(),
};

}  // namespace

std::span<const ExecutionRow> mxfp4_executions() { return kRows; }

}  // namespace mx::sim
