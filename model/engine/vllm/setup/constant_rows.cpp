// Which constants reach the kernels of each class, as data; constants.cpp interprets it.

#include <array>

#include "model/engine/vllm/setup/constants.hpp"

namespace mx::engine {
namespace {

using enum deployment::Activation;
using enum From;
using Names = std::string_view;

constexpr deployment::Mask kLimit = deployment::bit(Constant::limit);
constexpr deployment::Mask kAlpha = deployment::bit(Constant::alpha);
constexpr deployment::Mask kBeta = deployment::bit(Constant::beta);
constexpr deployment::Mask kNumbers = kLimit | kAlpha | kBeta;
constexpr deployment::Mask kBias = deployment::bit(Constant::bias);

constexpr deployment::Mask kSilu = deployment::bit(silu);
constexpr deployment::Mask kOai = deployment::bit(swigluoai);
constexpr deployment::Mask kPacked = deployment::bit(swigluoai_uninterleave);
constexpr deployment::Mask kStep = deployment::bit(swiglustep);
constexpr deployment::Mask kAny = deployment::kEverything;

// Classes by what they do with constants.

constexpr std::array<Names, 2> kTrtllmMxfp4 = {"TrtLlmMxfp4ExpertsMonolithic", "TrtLlmMxfp4ExpertsModular"};
constexpr std::array<Names, 1> kTrtllmMxfp4Lora = {"TrtLlmMxfp4LoRAExperts"};
constexpr std::array<Names, 2> kTrtllmNvfp4 = {"TrtLlmNvFp4ExpertsMonolithic", "TrtLlmNvFp4ExpertsModular"};
constexpr std::array<Names, 2> kTrtllmFp8 = {"TrtLlmFp8ExpertsMonolithic", "TrtLlmFp8ExpertsModular"};
constexpr std::array<Names, 1> kFlashinfer = {"FlashInferExperts"};
constexpr std::array<Names, 1> kCuteDsl = {"FlashInferCuteDSLExperts"};
constexpr std::array<Names, 1> kB12x = {"B12xExperts"};
constexpr std::array<Names, 2> kDeepGemm = {"TritonOrDeepGemmExperts", "DeepGemmExperts"};
constexpr std::array<Names, 1> kDeepGemmFp4 = {"DeepGemmFP4Experts"};
constexpr std::array<Names, 2> kMarlin = {"MarlinExperts", "BatchedMarlinExperts"};
constexpr std::array<Names, 2> kOaiTriton = {"OAITritonMxfp4ExpertsMonolithic", "OAITritonExperts"};
constexpr std::array<Names, 1> kUnfused = {"UnfusedOAITritonExperts"};
constexpr std::array<Names, 1> kTriton = {"TritonExperts"};
/// On TritonExperts.
constexpr std::array<Names, 5> kOnTriton = {"TritonExperts", "OCP_MXQuantizationEmulationTritonExperts", "Nvfp4QuantizationEmulationTritonExperts",
                                            "Mxfp8NativeTritonExperts", "Mxfp8EmulationTritonExperts"};
constexpr std::array<Names, 2> kTritonInt = {"TritonWNA16Experts", "Int4EmulationTritonExperts"};
constexpr std::array<Names, 1> kBatchedTriton = {"BatchedTritonExperts"};
constexpr std::array<Names, 5> kCutlass = {"CutlassExpertsFp4", "TritonOrCutlassExperts", "CutlassBatchedExpertsFp8", "CutlassExpertsMxfp4",
                                           "CutlassExpertsW4A8Fp8"};
constexpr std::array<Names, 1> kAiter = {"AiterExperts"};
constexpr std::array<Names, 5> kAiterFive = {"AiterFp8BlockExperts", "AiterFp8TensorExperts", "AiterFp8ChannelExperts", "AiterUnquantizedExperts",
                                             "AiterMxfp4Experts"};
constexpr std::array<Names, 1> kAiterW4A8 = {"AiterW4A8ExpertsMonolithic"};
constexpr std::array<Names, 2> kAiterTriton = {"AiterW4A16ExpertsMonolithic", "AiterW4A4ExpertsMonolithic"};
constexpr std::array<Names, 1> kAiterMxfp8 = {"AiterMxfp8Experts"};
constexpr std::array<Names, 8> kXpu = {"XPUExpertsMXFp4", "XPUExpertsMxFp4", "XPUExpertsFp8",      "XPUExpertsMxfp8",
                                       "XPUExpertsMxFp8", "XPUExperts",      "XPUExpertsBlockFp8", "XPUExpertsWNA16"};
constexpr std::array<Names, 3> kHumming = {"BatchedHummingGroupedExperts", "HummingGroupedExperts", "HummingIndexedExperts"};
constexpr std::array<Names, 1> kCpuMxfp4 = {"CPUExpertsMxfp4"};
constexpr std::array<Names, 1> kRdna3 = {"Rdna3WNA16Experts"};
constexpr std::array<Names, 1> kMoonEp = {"MoonEPExperts"};
/// AITER reads biases beside 16-bit activations alone.
constexpr std::array<Names, 1> kAiterBf16 = {"AITER_MXFP4_BF16"};
/// Take biases and no constants.
constexpr std::array<Names, 8> kBiasAlone = {"CPUUnquantizedExperts",      "X86CPUUnquantizedExperts", "ArmCPUUnquantizedExperts",
                                             "PowerCPUUnquantizedExperts", "ArmCPUExpertsInt8",        "PowerCPUExpertsInt8",
                                             "ZenCPUExpertsInt8",          "ZentorchExpertsInt4"};
/// Take neither.
constexpr std::array<Names, 13> kNothing = {"BatchedDeepGemmExperts",
                                            "FlashInferCuteDSLBatchedExperts",
                                            "FlashInferB12xExperts",
                                            "HPCExperts",
                                            "TrtLlmBf16ExpertsMonolithic",
                                            "TrtLlmBf16ExpertsModular",
                                            "TrtLlmBf16LoRAExperts",
                                            "TrtLlmMxint4ExpertsMonolithic",
                                            "FlashInferMoeEpExperts",
                                            "CPUExpertsFp8",
                                            "CPUExpertsFp8W8A8",
                                            "CPUExpertsInt4",
                                            "CPUExpertsInt8"};

// Conditions.

bool is_mxfp4(const ConstantCase& of) { return of.weights == deployment::QuantKey::mxfp4_static; }
bool is_mxfp8(const ConstantCase& of) { return of.weights == deployment::QuantKey::mxfp8_static; }
bool is_per_tensor(const ConstantCase& of) { return of.weights == deployment::QuantKey::fp8_static_tensor; }

/// Source: vllm utils/deep_gemm.py is_deep_gemm_e8m0_used.
bool uses_e8m0(const deployment::Deployment& deployment, deployment::Engine engine) {
  constexpr std::array kOn = {EnvVariable::use_deep_gemm, EnvVariable::use_deep_gemm_e8m0};
  const std::optional<int>& capability = deployment.hardware.capability;
  const int family = capability.value_or(0) / 10;
  const bool supported = deployment.hardware.platform == deployment::PlatformKind::cuda &&
                         (capability == 90 || family == 10 || (engine >= deployment::kVllm2026_08 && family == 12));
  return supported && deployment.software.has_deep_gemm && read_switches(deployment.env, kOn) == Switch::on;
}
/// The activation and its quantizer are one kernel, which has no limit.
template <deployment::Engine engine>
bool is_fused_block(const ConstantCase& of) {
  return of.weights == deployment::QuantKey::fp8_static_128_block && !of.deployment.layer.is_lora_enabled && !uses_e8m0(of.deployment, engine);
}

// clang-format off
constexpr std::array kRows = {
    // TRT-LLM.
    ConstantRow{kTrtllmMxfp4, kNumbers, kSilu | kOai, config, "E/trtllm_mxfp4_moe.py"},
    ConstantRow{kTrtllmMxfp4, kBias, kAny, config, "E/trtllm_mxfp4_moe.py"},
    ConstantRow{kTrtllmMxfp4Lora, kNumbers, kSilu | kOai, config, "E/trtllm_lora_moe.py"},
    ConstantRow{kTrtllmMxfp4Lora, kBias, kAny, config, "E/trtllm_lora_moe.py"},
    ConstantRow{kTrtllmNvfp4, kNumbers, kAny, nowhere, "E/trtllm_nvfp4_moe.py passes None", kMay},
    ConstantRow{kTrtllmNvfp4, kNumbers, kAny, config_or_layer, "E/trtllm_nvfp4_moe.py", kSinceAugust},
    ConstantRow{kTrtllmNvfp4, kBias, kAny, nowhere, "E/trtllm_nvfp4_moe.py passes None"},
    ConstantRow{kTrtllmFp8, kNumbers, kAny, nowhere, "E/trtllm_fp8_moe.py", kMay},
    ConstantRow{kTrtllmFp8, kNumbers, kAny, nowhere, "E/trtllm_fp8_moe.py: the call for scales of a tensor has none", kSinceAugust, is_per_tensor},
    ConstantRow{kTrtllmFp8, kNumbers, kAny, config, "E/trtllm_fp8_moe.py", kAugust, is_mxfp8},
    ConstantRow{kTrtllmFp8, kNumbers, kAny, raises, "ValueError of flashinfer 0.6.16.post3 trtllm_fp8_block_scale_moe: constants beside MXFP8 alone", kAugust},
    ConstantRow{kTrtllmFp8, kNumbers, kAny, config, "E/trtllm_fp8_moe.py", kSinceNovember},
    ConstantRow{kTrtllmFp8, kBias, kAny, nowhere, "E/trtllm_fp8_moe.py"},
    // FlashInfer's CUTLASS and CuteDSL, B12X.
    ConstantRow{kFlashinfer, kLimit, kSilu | kOai, config, "E/flashinfer_cutlass_moe.py", kMay, is_mxfp4},
    ConstantRow{kFlashinfer, kLimit, kSilu, config, "E/flashinfer_cutlass_moe.py", kMay},
    ConstantRow{kFlashinfer, kAlpha | kBeta, kOai, nowhere, "E/flashinfer_cutlass_moe.py: 1.702 and 1", kMay, is_mxfp4},
    ConstantRow{kFlashinfer, kNumbers, kAny, config, "E/flashinfer_cutlass_moe.py", kSinceAugust, is_mxfp4},
    ConstantRow{kFlashinfer, kLimit, kSilu, config, "E/flashinfer_cutlass_moe.py", kSinceAugust},
    ConstantRow{kFlashinfer, kNumbers, kOai | kPacked, config, "E/flashinfer_cutlass_moe.py", kSinceAugust},
    ConstantRow{kFlashinfer, kBias, kAny, config, "E/flashinfer_cutlass_moe.py", kAlways, is_mxfp4},
    ConstantRow{kFlashinfer, kBias, kAny, nowhere, "E/flashinfer_cutlass_moe.py"},
    ConstantRow{kCuteDsl, kNumbers, kAny, nowhere, "E/flashinfer_cutedsl_moe.py", kMay},
    ConstantRow{kCuteDsl, kLimit, kSilu, config, "E/flashinfer_cutedsl_moe.py", kSinceAugust},
    ConstantRow{kCuteDsl, kNumbers, kOai | kPacked, config, "E/flashinfer_cutedsl_moe.py", kSinceAugust},
    ConstantRow{kCuteDsl, kBias, kAny, nowhere, "E/flashinfer_cutedsl_moe.py"},
    ConstantRow{kB12x, kLimit, kSilu | kPacked, config_or_layer, "vllm fused_moe/b12x.py _swiglu_params"},
    ConstantRow{kB12x, kNumbers, kPacked, config_or_layer, "vllm fused_moe/b12x.py _swiglu_params"},
    ConstantRow{kB12x, kBias, kAny, nowhere, "vllm fused_moe/b12x.py"},
    // DeepGEMM.
    ConstantRow{kDeepGemm, kLimit, kSilu, config, "E/deep_gemm_moe.py _act_mul_quant"},
    ConstantRow{kDeepGemm, kNumbers, kPacked, config, "E/deep_gemm_moe.py _act_mul_quant", kSinceAugust},
    ConstantRow{kDeepGemm, kLimit, kStep, nowhere, "vllm swiglustep_and_mul_triton"},
    ConstantRow{kDeepGemm, kBias, kAny, nowhere, "E/deep_gemm_moe.py"},
    ConstantRow{kDeepGemmFp4, kLimit, kSilu, config, "E/deep_gemm_moe.py DeepGemmFP4Experts._act_mul_quant"},
    ConstantRow{kDeepGemmFp4, kLimit, kStep, nowhere, "vllm swiglustep_and_mul_triton"},
    ConstantRow{kDeepGemmFp4, kBias, kAny, nowhere, "E/deep_gemm_moe.py DeepGemmFP4Experts.apply"},
    // Marlin, and what calls apply_moe_activation, which since 2026-08 takes the layer's constants where the configuration has none.
    ConstantRow{kMarlin, kLimit, kSilu, config, "E/marlin_moe.py", kMay},
    ConstantRow{kMarlin, kLimit, kSilu, config_or_layer, "vllm fused_moe/activation.py", kSinceAugust},
    ConstantRow{kMarlin, kNumbers, kPacked, config_or_layer, "vllm fused_moe/activation.py", kSinceAugust},
    ConstantRow{kMarlin, kNumbers, kOai | kStep, nowhere, "vllm fused_moe/activation.py: swigluoai_and_mul and swiglustep_and_mul with what they have"},
    ConstantRow{kMarlin, kBias, kAny, config, "E/marlin_moe.py"},
    ConstantRow{kTriton, kLimit, kSilu, nowhere, "E/triton_moe.py: silu_and_mul_per_block_quant", kMay, is_fused_block<deployment::kVllm2026_05>},
    ConstantRow{kTriton, kLimit, kSilu, nowhere, "E/triton_moe.py: silu_and_mul_per_block_quant", kAugust, is_fused_block<deployment::kVllm2026_08>},
    ConstantRow{kOnTriton, kLimit, kSilu, config, "E/triton_moe.py activation", kMay},
    ConstantRow{kOnTriton, kLimit, kSilu, config_or_layer, "E/triton_moe.py activation", kSinceAugust},
    ConstantRow{kOnTriton, kNumbers, kPacked, config_or_layer, "vllm fused_moe/activation.py", kSinceAugust},
    ConstantRow{kOnTriton, kNumbers, kOai | kStep, nowhere, "vllm fused_moe/activation.py"},
    ConstantRow{kOnTriton, kBias, kAny, config, "E/triton_moe.py apply"},
    ConstantRow{kTritonInt, kLimit, kSilu, config_or_layer, "E/triton_moe.py activation"},
    ConstantRow{kTritonInt, kNumbers, kPacked, config_or_layer, "vllm fused_moe/activation.py"},
    ConstantRow{kTritonInt, kNumbers, kOai | kStep, nowhere, "vllm fused_moe/activation.py"},
    ConstantRow{kTritonInt, kBias, kAny, nowhere, "E/triton_moe.py TritonWNA16Experts.apply"},
    ConstantRow{kBatchedTriton, kLimit, kSilu, config, "E/fused_batched_moe.py activation", kMay},
    ConstantRow{kBatchedTriton, kLimit, kSilu, config_or_layer, "E/fused_batched_moe.py activation", kSinceAugust},
    ConstantRow{kBatchedTriton, kNumbers, kPacked, config_or_layer, "vllm fused_moe/activation.py", kSinceAugust},
    ConstantRow{kBatchedTriton, kNumbers, kOai | kStep, nowhere, "vllm fused_moe/activation.py"},
    ConstantRow{kBatchedTriton, kBias, kAny, nowhere, "E/fused_batched_moe.py apply"},
    ConstantRow{kCutlass, kNumbers, kAny, nowhere, "E/cutlass_moe.py: apply_moe_activation without constants", kMay},
    ConstantRow{kCutlass, kLimit, kSilu, config_or_layer, "E/cutlass_moe.py; vllm fused_moe/activation.py", kSinceAugust},
    ConstantRow{kCutlass, kNumbers, kPacked, config_or_layer, "E/cutlass_moe.py; vllm fused_moe/activation.py", kSinceAugust},
    ConstantRow{kCutlass, kNumbers, kOai | kStep, nowhere, "vllm fused_moe/activation.py"},
    ConstantRow{kCutlass, kBias, kAny, nowhere, "E/cutlass_moe.py"},
    ConstantRow{kHumming, kLimit, kSilu, config, "E/fused_humming_moe.py", kMay},
    ConstantRow{kHumming, kLimit, kSilu, config_or_layer, "E/fused_humming_moe.py", kSinceAugust},
    ConstantRow{kHumming, kNumbers, kPacked, config_or_layer, "vllm fused_moe/activation.py; quantization/utils/humming", kSinceAugust},
    ConstantRow{kHumming, kNumbers, kOai | kStep, nowhere, "vllm fused_moe/activation.py; quantization/utils/humming"},
    ConstantRow{kHumming, kBias, kAny, config, "E/fused_humming_moe.py"},
    ConstantRow{kRdna3, kLimit, kSilu, config_or_layer, "E/rdna3_moe.py; vllm fused_moe/activation.py"},
    ConstantRow{kRdna3, kNumbers, kPacked, config_or_layer, "E/rdna3_moe.py; vllm fused_moe/activation.py"},
    ConstantRow{kRdna3, kNumbers, kOai | kStep, nowhere, "vllm fused_moe/activation.py"},
    ConstantRow{kRdna3, kBias, kAny, nowhere, "E/rdna3_moe.py"},
    // Triton's own MXFP4 kernels.
    ConstantRow{kOaiTriton, kNumbers, kOai, nowhere, "E/gpt_oss_triton_kernels_moe.py: defaults of its arguments"},
    ConstantRow{kOaiTriton, kBias, kAny, config, "E/gpt_oss_triton_kernels_moe.py"},
    ConstantRow{kUnfused, kLimit, kSilu | kOai | kPacked, config, "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts.activation"},
    ConstantRow{kUnfused, kAlpha, kOai | kPacked, config, "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts.activation"},
    ConstantRow{kUnfused, kBeta, kPacked, config, "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts.activation"},
    ConstantRow{kUnfused, kBeta, kOai, nowhere, "E/gpt_oss_triton_kernels_moe.py UnfusedOAITritonExperts.activation"},
    ConstantRow{kUnfused, kLimit, kStep, nowhere, "vllm swiglustep_and_mul_triton"},
    ConstantRow{kUnfused, kBias, kAny, config, "E/gpt_oss_triton_kernels_moe.py"},
    // AITER.
    ConstantRow{kAiter, kNumbers, kAny, nowhere, "E/rocm_aiter_moe.py"},
    ConstantRow{kAiter, kBias, kAny, config, "E/rocm_aiter_moe.py: use_mxfp4_w4a16", kAlways, nullptr, kAiterBf16},
    ConstantRow{kAiter, kBias, kAny, nowhere, "E/rocm_aiter_moe.py"},
    ConstantRow{kAiterFive, kLimit, kAny, layer, "E/rocm_aiter_moe.py swiglu_limit"},
    ConstantRow{kAiterFive, kAlpha | kBeta, kAny, nowhere, "E/rocm_aiter_moe.py"},
    ConstantRow{kAiterFive, kBias, kAny, config, "E/rocm_aiter_moe.py: use_mxfp4_w4a16", kAlways, nullptr, kAiterBf16},
    ConstantRow{kAiterFive, kBias, kAny, nowhere, "E/rocm_aiter_moe.py"},
    ConstantRow{kAiterW4A8, kNumbers, kAny, nowhere, "E/aiter_mxfp4_w4a8_moe.py: defaults of its arguments"},
    ConstantRow{kAiterW4A8, kBias, kAny, config, "E/aiter_mxfp4_w4a8_moe.py"},
    ConstantRow{kAiterTriton, kLimit | kAlpha, kAny, config, "E/aiter_mxfp4_w4a16_moe.py, aiter_mxfp4_w4a4_moe.py; before 2026-11 aiter_mxfp4_w4a8_moe.py"},
    ConstantRow{kAiterTriton, kBeta, kAny, nowhere, "E/aiter_mxfp4_w4a16_moe.py: one of 1 is added, or none"},
    ConstantRow{kAiterTriton, kBias, kAny, config, "E/aiter_mxfp4_w4a16_moe.py, aiter_mxfp4_w4a4_moe.py"},
    ConstantRow{kAiterMxfp8, kLimit, kAny, config, "E/aiter_mxfp8_moe.py"},
    ConstantRow{kAiterMxfp8, kAlpha | kBeta, kAny, layer, "E/aiter_mxfp8_moe.py: refused unless they are the built-in ones"},
    ConstantRow{kAiterMxfp8, kBias, kAny, nowhere, "E/aiter_mxfp8_moe.py"},
    // XPU and CPU.
    ConstantRow{kXpu, kNumbers, kAny, nowhere, "E/xpu_moe.py", kMay},
    ConstantRow{kXpu, kLimit, kAny, config, "E/xpu_moe.py gemm1_clamp_limit", kSinceAugust},
    ConstantRow{kXpu, kAlpha | kBeta, kAny, nowhere, "E/xpu_moe.py", kSinceAugust},
    ConstantRow{kXpu, kBias, kAny, config, "E/xpu_moe.py"},
    ConstantRow{kCpuMxfp4, kLimit | kAlpha, kOai, config, "E/cpu_moe.py CPUExpertsMxfp4"},
    ConstantRow{kCpuMxfp4, kNumbers, kAny, nowhere, "vllm csrc/cpu/sgl-kernels/moe.cpp: SwiGLU-OAI where both are given, else no limit"},
    ConstantRow{kCpuMxfp4, kBias, kAny, config, "E/cpu_moe.py CPUExpertsMxfp4"},
    ConstantRow{kBiasAlone, kNumbers, kAny, nowhere, "E/cpu_moe.py, zentorch_moe.py"},
    ConstantRow{kBiasAlone, kBias, kAny, config, "E/cpu_moe.py, zentorch_moe.py"},
    // The rest.
    ConstantRow{kMoonEp, kNumbers, kAny, raises, "NotImplementedError of E/moonep_experts.py"},
    ConstantRow{kMoonEp, kBias, kAny, nowhere, "E/moonep_experts.py"},
    ConstantRow{kNothing, kNumbers | kBias, kAny, nowhere, "E/: the class passes none on"},
};
// clang-format on

}  // namespace

std::span<const ConstantRow> constant_rows() { return kRows; }

}  // namespace mx::engine
