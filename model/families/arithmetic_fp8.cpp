// How the FP8, MXFP8 and W4A8 backends compute. Sources: vllm at 7e1b45a09 (W4A8: 4438b6e7d) and its libraries, files named in each row; spec engine
// 1.3, 1.5, 6.2.

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

/// The quantizer that goes with a format unless the activation key says otherwise.
constexpr std::string_view usual_quantizer(WeightFormat format) {
  switch (format) {
    case WeightFormat::fp8_tensor: return "fp8-static";
    case WeightFormat::fp8_block: return "fp8-group128";
    case WeightFormat::mxfp8: return "mxfp8";
    default: return "fp8-token";
  }
}

constexpr MatrixUnit usual_unit(WeightFormat format) {
  if (format == WeightFormat::fp8_block) return MatrixUnit::fp8_blocks;
  return format == WeightFormat::mxfp8 ? MatrixUnit::block_scaled : MatrixUnit::fp8;
}

constexpr ExecutionRow row(WeightFormat format, std::string_view backend, std::string_view layout, Grounds grounds, std::string_view source) {
  return {.format = format,
          .backend = backend,
          .layout = layout,
          .unit = usual_unit(format),
          .first = usual_quantizer(format),
          .second = usual_quantizer(format),
          .keyed = format == WeightFormat::fp8_tensor || format == WeightFormat::fp8_channel,
          .by = QuantizedBy::prepare,
          .scales = ScaleMemory::row_major,
          .epilogue = EpilogueScale::product,
          .global = GlobalScale::epilogue,
          .bias = BiasEntry::dropped,
          .rounds_h13 = true,
          .swiglu_oai = kRefused,
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

constexpr ExecutionRow trtllm(WeightFormat format) {
  ExecutionRow trtllm = row(format, "FLASHINFER_TRTLLM", "FLASHINFER_TRTLLM", Grounds::assumed,
                            "E/trtllm_fp8_moe.py; fi FP8 launchers (read); rounding lies in cubins");
  trtllm.rounds_h13 = false;
  trtllm.bf16_weights = true;
  trtllm.address = ExpertAddress::offset;
  if (format == WeightFormat::fp8_tensor) trtllm.padding = {1, 16, 16};
  return trtllm;
}

/// Its SwiGLU-OAI is plain SwiGLU: the constants are not passed.
constexpr ExecutionRow flashinfer_cutlass(WeightFormat format) {
  ExecutionRow cutlass =
      row(format, "FLASHINFER_CUTLASS", "FLASHINFER_CUTLASS", Grounds::published, "E/flashinfer_cutlass_moe.py; fi cutlass_backend (read)");
  cutlass.rounds_h13 = false;
  cutlass.swiglu_oai = kSilu;
  cutlass.oai_order = SourceOrder::standard;
  cutlass.silu = kLimitedSilu;
  cutlass.address = ExpertAddress::offset;
  if (format == WeightFormat::fp8_block) cutlass.by = QuantizedBy::kernel;
  if (format == WeightFormat::fp8_tensor) cutlass.padding = {1, 16, 16};
  return cutlass;
}

constexpr ExecutionRow deepgemm(std::string_view backend, const ActivationUse& silu) {
  ExecutionRow deepgemm =
      row(WeightFormat::fp8_block, backend, "DEEPGEMM", Grounds::published, "E/deep_gemm_moe.py, batched_deep_gemm_moe.py (read)");
  deepgemm.silu = silu;
  return deepgemm;
}

/// Weights that the layout table has no row for stay as they were loaded.
constexpr ExecutionRow triton(WeightFormat format, std::string_view backend) {
  ExecutionRow triton = row(format, backend, {}, Grounds::published, "E/triton_moe.py, fused_batched_moe.py; fused_moe_kernel (read)");
  if (format == WeightFormat::fp8_block) triton.unit = MatrixUnit::fp8_blocks_in_order;
  triton.epilogue = EpilogueScale::activation_first;
  triton.bias = BiasEntry::f32;
  triton.swiglu_oai = kOaiWired;
  triton.slot = SlotRule::weighted_rounded;
  triton.sum = SlotSum::bf16;
  return triton;
}

constexpr ExecutionRow cutlass(WeightFormat format, std::string_view backend) {
  ExecutionRow cutlass =
      row(format, backend, {}, Grounds::published, "E/cutlass_moe.py CutlassExpertsFp8; vllm csrc/quantization/w8a8/cutlass/moe (read)");
  cutlass.epilogue = EpilogueScale::weight_first;
  cutlass.swiglu_oai = kOaiWired;
  return cutlass;
}

constexpr ExecutionRow marlin(WeightFormat format, std::string_view backend = "MARLIN") {
  ExecutionRow marlin =
      row(format, backend, "MARLIN", Grounds::published, "E/marlin_moe.py; vllm csrc/moe/marlin_moe_wna16 (read); split of k not modelled");
  marlin.unit = MatrixUnit::bf16;
  marlin.first = "none";
  marlin.second = "none";
  marlin.keyed = false;
  marlin.bias = BiasEntry::after_bf16;
  marlin.swiglu_oai = kOaiWired;
  marlin.silu = kLimitedSilu;
  marlin.slot = SlotRule::rounded_weighted_again;
  marlin.sum = SlotSum::bf16;
  return marlin;
}

constexpr ExecutionRow aiter(WeightFormat format) {
  ExecutionRow aiter = row(format, "AITER", "AITER", Grounds::assumed, "E/rocm_aiter_moe.py (read); sums lie in CK kernels");
  aiter.by = QuantizedBy::kernel;
  aiter.rounds_h13 = false;
  aiter.swiglu_oai = {"swiglu_oai_aiter", kOai, false, false, false};
  aiter.oai_order = SourceOrder::standard;
  return aiter;
}

constexpr ExecutionRow xpu(WeightFormat format, std::string_view layout) {
  ExecutionRow xpu =
      row(format, "XPU", layout, Grounds::assumed, "E/xpu_moe.py (read); the kernels are in vllm_xpu_kernels, which is not public text");
  xpu.by = QuantizedBy::kernel;
  xpu.swiglu_oai = kOaiWired;
  xpu.address = ExpertAddress::offset;
  return xpu;
}

constexpr ExecutionRow cpu() {
  ExecutionRow cpu =
      row(WeightFormat::fp8_block, "CPU", "CPU", Grounds::assumed, "E/cpu_moe.py CPUExpertsFp8; vllm csrc/cpu/sgl-kernels/moe_fp8.cpp (read)");
  cpu.unit = MatrixUnit::bf16_blocks;
  cpu.first = "none";
  cpu.second = "none";
  cpu.by = QuantizedBy::kernel;
  cpu.address = ExpertAddress::ignored;
  return cpu;
}

/// int4 codes choose among the eight multiples of each group's e4m3 scale that the conversion stored.
constexpr ExecutionRow w4a8() {
  ExecutionRow w4a8 = row(WeightFormat::int4, "CUTLASS", "CUTLASS", Grounds::published,
                          "E/cutlass_moe.py CutlassExpertsW4A8Fp8; vllm csrc/quantization/cutlass_w4a8 (read)");
  w4a8.keyed = false;
  w4a8.epilogue = EpilogueScale::weight_first;
  w4a8.swiglu_oai = kOaiWired;
  return w4a8;
}

constexpr std::array kRows{
    trtllm(WeightFormat::fp8_tensor),
    trtllm(WeightFormat::fp8_block),
    trtllm(WeightFormat::mxfp8),
    flashinfer_cutlass(WeightFormat::fp8_tensor),
    flashinfer_cutlass(WeightFormat::fp8_block),
    deepgemm("DEEPGEMM", kLimitedSilu),
    deepgemm("BATCHED_DEEPGEMM", kSilu),
    marlin(WeightFormat::fp8_tensor),
    marlin(WeightFormat::fp8_channel),
    marlin(WeightFormat::fp8_block),
    marlin(WeightFormat::mxfp8),
    triton(WeightFormat::fp8_tensor, "TRITON"),
    triton(WeightFormat::fp8_channel, "TRITON"),
    triton(WeightFormat::fp8_block, "TRITON"),
    triton(WeightFormat::fp8_tensor, "BATCHED_TRITON"),
    triton(WeightFormat::fp8_channel, "BATCHED_TRITON"),
    triton(WeightFormat::fp8_block, "BATCHED_TRITON"),
    aiter(WeightFormat::fp8_tensor),
    aiter(WeightFormat::fp8_channel),
    aiter(WeightFormat::fp8_block),
    cutlass(WeightFormat::fp8_tensor, "VLLM_CUTLASS"),
    cutlass(WeightFormat::fp8_channel, "VLLM_CUTLASS"),
    cutlass(WeightFormat::fp8_tensor, "BATCHED_VLLM_CUTLASS"),
    cutlass(WeightFormat::fp8_channel, "BATCHED_VLLM_CUTLASS"),
    xpu(WeightFormat::fp8_tensor, "XPU"),
    xpu(WeightFormat::mxfp8, {}),
    cpu(),
    w4a8(),
};

}  // namespace

std::span<const ExecutionRow> fp8_executions() { return kRows; }

}  // namespace mx::sim
