#pragma once
// What the rows of families/*/arithmetic.cpp start from: what most kernels of a format share. Each row changes what is its own.

#include <array>

#include "model/families/arithmetic.hpp"

namespace mx::families {

inline constexpr moe::ActivationConstants kOai{0x3FD9DB23U, 0x3F800000U, 0x40E00000U, 0};  // 1.702, 1, 7
inline constexpr moe::ActivationConstants kNone{0, 0, 0, 0};

inline constexpr ActivationUse kRefused{{}, kNone, false, false, false};
inline constexpr ActivationUse kSilu{"silu_and_mul", kNone, false, false, false};
inline constexpr ActivationUse kLimitedSilu{"silu_and_mul", kNone, false, false, true, "silu_and_mul_clamp_cuda"};
/// The engine clamps in torch; since 2026-08 by a kernel (launch.cpp).
inline constexpr ActivationUse kTorchLimitedSilu{"silu_and_mul", kNone, false, false, true, "silu_and_mul_clamp_torch"};
/// The constants of SwiGLU-OAI are compiled in.
constexpr ActivationUse wired(std::string_view row) { return {row, kOai, false, false, false}; }
constexpr ActivationUse takes(std::string_view row, bool alpha, bool beta, bool limit) { return {row, kOai, alpha, beta, limit}; }
inline constexpr ActivationUse kOaiWired = wired("swiglu_oai_cuda");

/// What the engine's callback between two products computes. Source: vllm at 7e1b45a09 and 7ca49fbe4 fused_moe/activation.py apply_moe_activation;
/// SiTU and SwiGLU-OAI of halves came in between.
inline constexpr std::array kApplied{
    NamedActivation{"GELU", {"gelu_and_mul", kNone, false, false, false}},
    NamedActivation{"GELU_TANH", {"gelu_tanh_and_mul", kNone, false, false, false}},
    NamedActivation{"SWIGLUSTEP", wired("swiglu_step")},
    NamedActivation{"SITU", {"situ_and_mul", {0, 0x40800000U, 0, 0x41C80000U}, false, true, false}},
    NamedActivation{"SWIGLUOAI_UNINTERLEAVE", takes("swiglu_oai_uninterleave", true, true, true)},
    NamedActivation{"SILU_NO_MUL", {"silu_no_mul", kNone, false, false, false}},
    NamedActivation{"GELU_NO_MUL", {"gelu_no_mul", kNone, false, false, false}},
    NamedActivation{"GELU_TANH_NO_MUL", {"gelu_tanh_no_mul", kNone, false, false, false}},
    NamedActivation{"RELU2_NO_MUL", {"relu2_no_mul", kNone, false, false, false}},
};
/// What FlashInfer's CUTLASS kernels know without a gate. Source: fi csrc/fused_moe/cutlass_backend/cutlass_fused_moe_kernels.cuh, Relu2.
inline constexpr std::array kSquaredRelu{NamedActivation{"RELU2_NO_MUL", {"relu2_no_mul", kNone, false, false, false}}};
/// What TRT-LLM's cubins are asked for beside SwiGLU. Source: vllm quantization/utils/flashinfer_utils.py activation_to_flashinfer_type.
inline constexpr std::array kCubins{NamedActivation{"GELU_TANH", {"gelu_tanh_and_mul", kNone, false, false, false}},
                                    NamedActivation{"RELU2_NO_MUL", {"relu2_no_mul", kNone, false, false, false}}};

inline bool on_sm90(Arch arch) { return arch == Arch::sm90; }
inline bool on_nvidia(Arch arch) { return platform_of(arch) == deployment::PlatformKind::cuda; }
inline bool on_cpu(Arch arch) { return arch == Arch::cpu; }

/// What the engine's functions between the products compute otherwise from a version on (between.cpp).
inline constexpr std::string_view kActivationSet = "golden/witness/hardware/activations_h200";
inline constexpr KnownDifference kZeroIsAdded{on_nvidia, "an up of -0 acts as +0", kActivationSet, deployment::since(deployment::kVllm2026_08)};
inline constexpr std::array kAppliedChanges{kZeroIsAdded};

/// Whose outputs showed a known difference.
inline constexpr std::string_view kH100 = "outputs of an H100, vllm at 7e1b45a09, not recorded here";
inline constexpr std::string_view kElsewhere = "outputs of the kernel, not recorded here";
inline constexpr std::string_view kWith8Bits = "8-bit activations: the kernel multiplies codes of 8 bits, the row numbers of 16";

/// A row with the places where a real kernel contradicts it; nothing else changes.
constexpr ExecutionRow with_differences(ExecutionRow row, std::span<const KnownDifference> differences) {
  row.differences = differences;
  return row;
}

/// MXFP4: a 16-bit kernel.
constexpr ExecutionRow mxfp4_row(std::string_view backend, Grounds grounds, std::string_view source) {
  return {.format = layout::WeightFormat::mxfp4,
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
          .oai_order = layout::SourceOrder::gpt_oss,
          .silu_order = layout::SourceOrder::standard,
          .bf16_weights = false,
          .slot = SlotRule::rounded,
          .sum = SlotSum::f32,
          .order = SlotOrder::position,
          .address = ExpertAddress::map,
          .grounds = grounds,
          .source = source};
}

/// NVFP4: block scales inside the instruction, activations quantized likewise.
constexpr ExecutionRow nvfp4_row(std::string_view backend, ScaleMemory scales, ExpertAddress address, Grounds grounds, std::string_view source) {
  return {.format = layout::WeightFormat::nvfp4,
          .backend = backend,
          .layout = backend,
          .unit = MatrixUnit::block_scaled_nvfp4,
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
          .oai_order = layout::SourceOrder::gpt_oss,
          .silu_order = layout::SourceOrder::standard,
          .bf16_weights = false,
          .slot = SlotRule::rounded,
          .sum = SlotSum::f32,
          .order = SlotOrder::position,
          .address = address,
          .grounds = grounds,
          .source = source};
}

/// The quantizer that goes with a format unless the activation key says otherwise.
constexpr std::string_view usual_quantizer(layout::WeightFormat format) {
  switch (format) {
    case layout::WeightFormat::fp8_tensor: return "fp8-static";
    case layout::WeightFormat::fp8_block: return "fp8-group128";
    case layout::WeightFormat::mxfp8: return "mxfp8";
    default: return "fp8-token";
  }
}

/// The unit likewise.
constexpr MatrixUnit usual_unit(layout::WeightFormat format) {
  if (format == layout::WeightFormat::fp8_block) return MatrixUnit::fp8_blocks;
  return format == layout::WeightFormat::mxfp8 ? MatrixUnit::block_scaled : MatrixUnit::fp8;
}

/// FP8, MXFP8 and W4A8: activations quantized as the format or the activation key says.
constexpr ExecutionRow fp8_row(layout::WeightFormat format, std::string_view backend, std::string_view layout, Grounds grounds,
                               std::string_view source) {
  return {.format = format,
          .backend = backend,
          .layout = layout,
          .unit = usual_unit(format),
          .first = usual_quantizer(format),
          .second = usual_quantizer(format),
          .keyed = format == layout::WeightFormat::fp8_tensor || format == layout::WeightFormat::fp8_channel,
          .by = QuantizedBy::prepare,
          .scales = ScaleMemory::row_major,
          .epilogue = EpilogueScale::product,
          .global = GlobalScale::epilogue,
          .bias = BiasEntry::dropped,
          .rounds_h13 = true,
          .swiglu_oai = kRefused,
          .silu = kSilu,
          .oai_order = layout::SourceOrder::gpt_oss,
          .silu_order = layout::SourceOrder::standard,
          .bf16_weights = false,
          .slot = SlotRule::rounded,
          .sum = SlotSum::f32,
          .order = SlotOrder::position,
          .address = ExpertAddress::map,
          .grounds = grounds,
          .source = source};
}

}  // namespace mx::families
