// What each expert class refuses, as rows.

#include <array>

#include "props/engine/vllm/restated_class.hpp"

namespace mx::props {
namespace {

using Text = std::string_view;
using deployment::Engine;
using deployment::kVllm2026_08;
using deployment::kVllm2026_11;

constexpr Engine kOpen{deployment::Project::vllm, 999912};

constexpr Text kNine = "SILU GELU GELU_TANH SWIGLUOAI SWIGLUSTEP SILU_NO_MUL GELU_NO_MUL GELU_TANH_NO_MUL RELU2_NO_MUL";
constexpr Text kEight = "SILU GELU GELU_TANH SWIGLUOAI SILU_NO_MUL GELU_NO_MUL GELU_TANH_NO_MUL RELU2_NO_MUL";
constexpr Text kEleven = "SILU GELU GELU_TANH SITU SWIGLUOAI SWIGLUOAI_UNINTERLEAVE SWIGLUSTEP SILU_NO_MUL GELU_NO_MUL GELU_TANH_NO_MUL RELU2_NO_MUL";
constexpr Text kOnXpu = "SILU GELU SWIGLUOAI RELU2_NO_MUL";
constexpr Text kSoftmax = "Renormalize RenormalizeNaive";
constexpr Text kOnCpu = "Default Renormalize RenormalizeNaive";
constexpr Text kTrtllm = "Renormalize DeepSeekV3 RenormalizeNaive SigmoidRenorm MiniMax2 Simulated";
constexpr Text kBf16 = "DeepSeekV3 Llama4 Renormalize RenormalizeNaive SigmoidRenorm Sigmoid";
constexpr Text kBf16AndMiniMax = "DeepSeekV3 Llama4 Renormalize RenormalizeNaive SigmoidRenorm Sigmoid MiniMax2";
constexpr Text kTrtllmAndLlama = "Renormalize DeepSeekV3 Llama4 RenormalizeNaive SigmoidRenorm MiniMax2 Simulated";
constexpr Text kMarlinWeights =
    "kFp8Static128BlockSym kFp8StaticChannelSym kFp8StaticTensorSym kMxfp4Static kMxfp8Static kNvfp4Static kInt4Static kInt8Static";

// Devices.

bool on_cpu(const Facts& f) { return f.is("cpu"); }
bool on_xpu(const Facts& f) { return f.is("xpu"); }
bool on_cuda_or_rocm(const Facts& f) { return f.is("cuda") || f.is("rocm"); }
bool not_on_cpu(const Facts& f) { return !f.is("cpu"); }

bool with_marlin(const Facts& f) { return f.is("cuda") && f.capability() >= 75; }
bool with_flashinfer(const Facts& f) { return f.cuda_family(100) && f.deployment.software.has_flashinfer; }
bool with_trtllm(const Facts& f) { return f.cuda_family(100) && f.deployment.software.has_flashinfer_trtllm_fused_moe; }
bool with_flashinfer_cutlass(const Facts& f) {
  const bool fits = f.is("cuda") && (f.capability() == 90 || f.family(100) || f.family(120));
  return fits && f.deployment.software.has_flashinfer_cutlass_fused_moe;
}
bool with_deep_gemm(const Facts& f) {
  if (!f.is("cuda") || (f.capability() != 90 && !f.family(100))) return false;
  return f.integer("VLLM_USE_DEEP_GEMM", true) && f.deployment.software.has_deep_gemm;
}
bool with_group_gemm(const Facts& f) {
  return f.is("cuda") && f.capability() >= 90 && f.capability() < 110 && f.deployment.software.cutlass_group_gemm_op;
}
bool with_triton_kernels(const Facts& f) {
  const bool fits = (f.is("cuda") && f.capability() >= 90 && f.capability() < 110) || f.gfx("gfx90a gfx942 gfx950 gfx11 gfx12");
  return fits && f.deployment.software.has_triton_kernels;
}
bool with_aiter(const Facts& f) { return f.fused_aiter(); }
bool with_mx(const Facts& f) { return f.gfx("gfx95 gfx1250"); }
bool with_amx(const Facts& f) { return f.is("cpu") && f.deployment.hardware.cpu_arch == "x86" && f.deployment.hardware.amx; }

// Keys.

bool any_keys(const Facts&) { return true; }
bool mxfp4_on_16_bits(const Facts& f) { return f.keys_are("kMxfp4Static", "None"); }
bool nvfp4(const Facts& f) { return f.keys_are("kNvfp4Static", "kNvfp4Dynamic"); }
bool fp8_blocks(const Facts& f) { return f.fp8_blocks(); }
bool fp8_channels(const Facts& f) { return f.keys_are("kFp8StaticChannelSym", "kFp8DynamicTokenSym"); }
bool mxfp8(const Facts& f) { return f.keys_are("kMxfp8Static", "kMxfp8Dynamic"); }
bool int8(const Facts& f) { return f.keys_are("kInt8StaticChannelSym", "kInt8DynamicTokenSym"); }
bool unquantized(const Facts& f) { return f.keys_are("None", "None"); }
bool five_of_fp8(const Facts& f) {
  return fp8_blocks(f) || fp8_channels(f) || f.keys_are("kFp8StaticTensorSym", "kFp8DynamicTokenSym kFp8StaticTensorSym kFp8DynamicTensorSym");
}
bool marlin_keys(const Facts& f) { return has_word(kMarlinWeights, f.weight); }
bool cutlass_fp8(const Facts& f) { return fp8_channels(f) || f.keys_are("kFp8StaticTensorSym", "kFp8DynamicTensorSym kFp8StaticTensorSym"); }
bool triton_keys(const Facts& f) {
  if (f.is("cuda") && f.capability() >= 75 && int8(f)) return true;
  const bool has_fp8 = (f.is("cuda") && f.capability() >= 89) || f.gfx("gfx90a gfx942 gfx950 gfx12") || f.is("xpu");
  return unquantized(f) || (has_fp8 && five_of_fp8(f));
}
bool batched_triton_keys(const Facts& f) {
  const bool has_fp8 = (f.is("cuda") && f.capability() >= 89) || f.gfx("gfx90a gfx942 gfx950");
  return unquantized(f) || (has_fp8 && five_of_fp8(f));
}
bool flashinfer_cutlass_keys(const Facts& f) {
  const int cap = f.capability();
  if (cap >= 90 && (unquantized(f) || f.keys_are("kFp8StaticTensorSym", "kFp8StaticTensorSym"))) return true;
  if (cap == 90 && (mxfp4_on_16_bits(f) || fp8_blocks(f))) return true;
  return cap >= 100 && (f.keys_are("kMxfp4Static", "kMxfp8Dynamic") || nvfp4(f));
}
bool aiter_keys(const Facts& f) {
  if (f.gfx("gfx950") && f.keys_are("kMxfp4Static", "None kMxfp4Dynamic")) return true;
  return unquantized(f) || fp8_blocks(f) || fp8_channels(f) || f.keys_are("kFp8StaticTensorSym", "kFp8StaticTensorSym kFp8DynamicTensorSym");
}

// Exchanges that are refused.

bool nvlink(const Facts& f) { return f.flashinfer_nvlink(); }
bool more_than_one_dispatch(const Facts& f) { return f.exchanges || f.deployment.parallel.enable_eplb || f.deployment.parallel.dp > 1; }
bool exchange_or_eplb(const Facts& f) { return f.exchanges || f.deployment.parallel.enable_eplb; }
bool eplb_or_no_gather(const Facts& f) { return f.deployment.parallel.enable_eplb || (f.exchanges && !f.exchange_is("allgather_reducescatter")); }
bool nvlink_or_deepep(const Facts& f) { return nvlink(f) || f.exchange_is("deepep_high_throughput"); }

// What single classes ask besides.

Text bfloat16_alone(const Facts& f) { return f.deployment.layer.in_dtype != "bfloat16" ? "in_dtype" : ""; }
Text crowded(const Facts& f) { return on_cuda_or_rocm(f) && (f.deployment.layer.num_experts + 31) / 32 * 32 >= 1024 ? "expert_count" : ""; }
Text more_than_2048(const Facts& f) { return f.deployment.layer.num_experts > 2048 ? "expert_count" : ""; }
Text hidden_in_32(const Facts& f) { return f.deployment.layer.hidden % 32 != 0 ? "size" : ""; }
Text both_in_32(const Facts& f) { return f.deployment.layer.intermediate_per_partition % 32 != 0 ? "size" : hidden_in_32(f); }

Text b12x_first(const Facts& f) {
  const deployment::LayerConfig& layer = f.deployment.layer;
  const Text activation = layer.activation;
  if (layer.has_bias) return "bias";
  if (layer.in_dtype != "float16" && layer.in_dtype != "bfloat16") return "in_dtype";
  const bool other_betas = layer.constants && (layer.constants->situ_beta != 4.0 || layer.constants->situ_linear_beta != 25.0);
  if (activation == "SITU" && other_betas) return "situ_betas";
  if (activation == "SWIGLUOAI_UNINTERLEAVE" && f.activation != "None") return "b12x_activation";
  if (f.weight != "kMxfp4Static") return "";
  if (layer.intermediate_per_partition % 32 != 0) return "size";
  if (f.activation != "kMxfp8Dynamic") return "";
  if (activation != "SILU" && activation != "SITU") return "b12x_activation";
  return layer.hidden % 256 != 0 ? "size" : "";
}

bool wrong_numbers(const Facts& f) {
  const auto& constants = f.deployment.layer.constants;
  return !constants || constants->swiglu_alpha != 1.702 || constants->swiglu_beta != 1.0;
}
Text aiter_mxfp8_last(const Facts& f) {
  const Text activation = f.deployment.layer.activation;
  const bool november = f.engine >= kVllm2026_11;
  if (const Text code = crowded(f); !code.empty()) return code;
  if (!november && !f.deployment.software.aiter_mxfp8) return "flydsl_missing";
  if (november && activation == "SILU") return "";
  if (activation != "SWIGLUOAI_UNINTERLEAVE") return "swiglu_activation";
  return wrong_numbers(f) ? "swiglu_alpha_beta" : "";
}

constexpr RestatedClass of(Engine since, Engine until, RestatedClass row) {
  row.since = since;
  row.until = until;
  return row;
}
constexpr RestatedClass mxfp8_class(
    Text name, Holds device, Says last, Holds refused = [](const Facts&) { return false; }) {
  return {.name = name,
          .device = device,
          .activations = kEleven,
          .keys = mxfp8,
          .refused_exchange = refused,
          .ungated = true,
          .lora = true,
          .last = last};
}
constexpr RestatedClass invariant(RestatedClass row) {
  row.invariant = true;
  return row;
}
constexpr RestatedClass bf16_class(Text routings) {
  return {.name = "TrtLlmBf16ExpertsMonolithic",
          .device = with_trtllm,
          .activations = "SILU RELU2_NO_MUL",
          .keys = unquantized,
          .refused_exchange = eplb_or_no_gather,
          .routings = routings,
          .ungated = true,
          .monolithic = true,
          .last = more_than_2048};
}
constexpr RestatedClass cpu_int8(Text activations, bool monolithic, Says last) {
  return {.name = "CPUExpertsInt8",
          .device = with_amx,
          .activations = activations,
          .keys = int8,
          .routings = kOnCpu,
          .monolithic = monolithic,
          .last = last};
}

constexpr std::array kRows = {
    RestatedClass{"TrtLlmMxfp4ExpertsMonolithic", with_flashinfer, "SWIGLUOAI SILU",
                  [](const Facts& f) { return f.keys_are("kMxfp4Static", "None kMxfp8Dynamic"); }, more_than_one_dispatch, kSoftmax},
    RestatedClass{"TrtLlmMxfp4ExpertsModular", with_flashinfer, "SWIGLUOAI SILU",
                  [](const Facts& f) { return f.keys_are("kMxfp4Static", "None kMxfp8Dynamic"); }},
    RestatedClass{"DeepGemmFP4Experts", [](const Facts& f) { return f.family(100) && with_deep_gemm(f); }, "SILU SWIGLUSTEP",
                  [](const Facts& f) { return f.keys_are("kMxfp4Static", "kFp8Dynamic128Sym"); }, nvlink},
    RestatedClass{.name = "FlashInferExperts",
                  .device = with_flashinfer_cutlass,
                  .activations = "SILU RELU2_NO_MUL SWIGLUOAI",
                  .keys = flashinfer_cutlass_keys,
                  .ungated = true},
    RestatedClass{"OAITritonMxfp4ExpertsMonolithic", with_triton_kernels, "SWIGLUOAI", mxfp4_on_16_bits, more_than_one_dispatch, kSoftmax},
    RestatedClass{"OAITritonExperts", with_triton_kernels, "SWIGLUOAI", mxfp4_on_16_bits},
    RestatedClass{.name = "UnfusedOAITritonExperts",
                  .device = with_triton_kernels,
                  .activations = "SILU GELU SWIGLUOAI SWIGLUSTEP",
                  .keys = mxfp4_on_16_bits,
                  .lora = true},
    RestatedClass{.name = "MarlinExperts",
                  .device = with_marlin,
                  .activations = kNine,
                  .keys = marlin_keys,
                  .refused_exchange = nvlink,
                  .ungated = true,
                  .lora = true},
    RestatedClass{.name = "BatchedMarlinExperts",
                  .device = with_marlin,
                  .activations = kNine,
                  .keys = marlin_keys,
                  .refused_exchange = nvlink,
                  .ungated = true,
                  .batched = true},
    RestatedClass{"AiterExperts", with_aiter, "SILU GELU SWIGLUOAI", aiter_keys, nvlink},
    RestatedClass{"AiterW4A8ExpertsMonolithic",
                  [](const Facts& f) { return f.gfx("gfx950") && f.deployment.software.aiter_found && f.word("VLLM_ROCM_USE_AITER"); }, "SWIGLUOAI",
                  [](const Facts& f) { return f.keys_are("kMxfp4Static", "kFp8StaticTensorSym"); }, more_than_one_dispatch, kSoftmax},
    RestatedClass{.name = "XPUExpertsMXFp4", .device = on_xpu, .activations = kOnXpu, .keys = mxfp4_on_16_bits, .ungated = true},
    RestatedClass{.name = "XPUExpertsFp8",
                  .device = on_xpu,
                  .activations = kOnXpu,
                  .keys = [](const Facts& f) { return f.keys_are("kFp8StaticTensorSym", "None kFp8DynamicTensorSym"); },
                  .ungated = true},
    RestatedClass{.name = "XPUExpertsMxfp8",
                  .device = on_xpu,
                  .activations = kOnXpu,
                  .keys = [](const Facts& f) { return f.keys_are("kMxfp8Static", "None kMxfp8Dynamic"); },
                  .ungated = true},
    RestatedClass{.name = "CPUExpertsMxfp4", .device = on_cpu, .activations = "SILU SWIGLUOAI", .keys = mxfp4_on_16_bits, .routings = kOnCpu},
    RestatedClass{.name = "CPUExpertsFp8", .device = on_cpu, .activations = "SILU", .keys = fp8_blocks, .routings = kOnCpu},
    RestatedClass{.name = "OCP_MXQuantizationEmulationTritonExperts",
                  .device = not_on_cpu,
                  .activations = kNine,
                  .keys = any_keys,
                  .refused_exchange = nvlink,
                  .ungated = true,
                  .invariant = true,
                  .lora = true},
    RestatedClass{.name = "Nvfp4QuantizationEmulationTritonExperts",
                  .device = not_on_cpu,
                  .activations = kNine,
                  .keys = nvfp4,
                  .refused_exchange = nvlink,
                  .ungated = true,
                  .invariant = true,
                  .lora = true},
    RestatedClass{.name = "TrtLlmNvFp4ExpertsMonolithic",
                  .device = with_trtllm,
                  .activations = "SILU RELU2_NO_MUL GELU",
                  .keys = nvfp4,
                  .refused_exchange = exchange_or_eplb,
                  .routings = kTrtllmAndLlama,
                  .ungated = true},
    RestatedClass{
        .name = "TrtLlmNvFp4ExpertsModular", .device = with_trtllm, .activations = "SILU RELU2_NO_MUL GELU", .keys = nvfp4, .ungated = true},
    RestatedClass{"FlashInferCuteDSLExperts",
                  [](const Facts& f) { return f.cuda_family(100) && f.deployment.software.has_flashinfer_cutedsl_moe_nvfp4; }, "SILU", nvfp4},
    RestatedClass{.name = "FlashInferCuteDSLBatchedExperts",
                  .device = [](const Facts& f) { return f.cuda_family(100) && f.deployment.software.has_flashinfer_cutedsl_grouped_gemm_nt_masked; },
                  .activations = "SILU",
                  .keys = nvfp4,
                  .batched = true},
    RestatedClass{"FlashInferB12xExperts", [](const Facts& f) { return f.cuda_family(120) && f.deployment.software.has_flashinfer_b12x_moe; }, "SILU",
                  nvfp4},
    RestatedClass{.name = "CutlassExpertsFp4",
                  .device = [](const Facts& f) { return f.cuda_family(100) || f.cuda_family(110) || f.cuda_family(120); },
                  .activations = "SILU GELU SWIGLUOAI SWIGLUSTEP SILU_NO_MUL GELU_NO_MUL RELU2_NO_MUL",
                  .keys = nvfp4,
                  .refused_exchange = [](const Facts& f) { return f.ep_size != 1; },
                  .ungated = true},
    RestatedClass{.name = "TrtLlmFp8ExpertsMonolithic",
                  .device = with_trtllm,
                  .activations = "SILU RELU2_NO_MUL",
                  .keys = [](const Facts& f) { return fp8_blocks(f) || f.keys_are("kFp8StaticTensorSym", "kFp8StaticTensorSym") || mxfp8(f); },
                  .refused_exchange = eplb_or_no_gather,
                  .routings = kTrtllm,
                  .ungated = true},
    RestatedClass{.name = "TrtLlmFp8ExpertsModular",
                  .device = with_trtllm,
                  .activations = "SILU RELU2_NO_MUL",
                  .keys = [](const Facts& f) { return fp8_blocks(f) || mxfp8(f); },
                  .refused_exchange = eplb_or_no_gather,
                  .ungated = true},
    RestatedClass{"TritonOrDeepGemmExperts", with_deep_gemm, "SILU SWIGLUSTEP", [](const Facts& f) { return fp8_blocks(f) && triton_keys(f); },
                  nvlink},
    RestatedClass{.name = "BatchedDeepGemmExperts", .device = with_deep_gemm, .activations = "SILU", .keys = fp8_blocks, .batched = true},
    RestatedClass{.name = "TritonExperts",
                  .device = not_on_cpu,
                  .activations = kNine,
                  .keys = triton_keys,
                  .refused_exchange = nvlink,
                  .ungated = true,
                  .invariant = true,
                  .lora = true},
    RestatedClass{.name = "BatchedTritonExperts",
                  .device = on_cuda_or_rocm,
                  .activations = kEight,
                  .keys = batched_triton_keys,
                  .ungated = true,
                  .batched = true},
    RestatedClass{"TritonOrCutlassExperts", with_group_gemm, "SILU GELU SWIGLUOAI", [](const Facts& f) { return cutlass_fp8(f) && triton_keys(f); },
                  nvlink_or_deepep},
    RestatedClass{
        .name = "CutlassBatchedExpertsFp8", .device = with_group_gemm, .activations = "SILU GELU SWIGLUOAI", .keys = cutlass_fp8, .batched = true},
    RestatedClass{.name = "CutlassExpertsW4A8Fp8",
                  .device = with_group_gemm,
                  .activations = "SILU GELU SWIGLUOAI",
                  .keys = [](const Facts& f) { return f.keys_are("kInt4Static", "kFp8DynamicTokenSym"); },
                  .first = bfloat16_alone},

    of(kVllm2026_08, kOpen,
       RestatedClass{.name = "HPCExperts",
                     .device = [](const Facts& f) { return f.cuda(90) && f.deployment.software.has_hpc; },
                     .activations = "SILU",
                     .keys = [](const Facts& f) { return fp8_blocks(f) || f.keys_are("kFp8StaticTensorSym", "kFp8StaticTensorSym"); },
                     .hidden = 128}),
    of(kVllm2026_08, kOpen,
       RestatedClass{.name = "B12xExperts",
                     .device = [](const Facts& f) { return f.cuda_family(120) && f.deployment.software.b12x_supported; },
                     .activations = "SILU SITU SWIGLUOAI_UNINTERLEAVE RELU2_NO_MUL",
                     .keys =
                         [](const Facts& f) {
                           return f.keys_are("kMxfp4Static", "kMxfp8Dynamic None") || f.keys_are("kNvfp4Static", "kNvfp4Dynamic kMxfp8Dynamic None");
                         },
                     .refused_exchange = [](const Facts& f) { return f.ep_size > 1 || f.deployment.parallel.enable_eplb; },
                     .ungated = true,
                     .first = b12x_first}),
    of(kVllm2026_08, kOpen, invariant(mxfp8_class("Mxfp8EmulationTritonExperts", any_keys, crowded, nvlink))),
    of(kVllm2026_08, kOpen, invariant(mxfp8_class("Mxfp8NativeTritonExperts", with_mx, crowded, nvlink))),
    of(kVllm2026_08, kVllm2026_11, invariant(mxfp8_class("AiterMxfp8Experts", with_mx, aiter_mxfp8_last))),
    of(kVllm2026_11, kOpen,
       mxfp8_class(
           "AiterMxfp8Experts", [](const Facts& f) { return with_mx(f) && with_aiter(f) && f.deployment.software.aiter_gate_mode; },
           aiter_mxfp8_last)),
    of(kVllm2026_08, kVllm2026_11, bf16_class(kBf16)),
    of(kVllm2026_11, kOpen, bf16_class(kBf16AndMiniMax)),
    of(kVllm2026_08, kVllm2026_11, cpu_int8("SILU", true, both_in_32)),
    of(kVllm2026_11, kOpen, cpu_int8("SILU GELU_TANH", false, hidden_in_32)),
    of(kVllm2026_11, kOpen,
       RestatedClass{.name = "CutlassExpertsMxfp4",
                     .device = [](const Facts& f) { return f.is("cuda") && f.deployment.software.mxfp4_experts_quant_op; },
                     .activations = kEleven,
                     .keys = [](const Facts& f) { return f.keys_are("kMxfp4Static", "kMxfp4Dynamic"); },
                     .refused_exchange = nvlink_or_deepep,
                     .ungated = true}),
    of(kVllm2026_11, kOpen,
       RestatedClass{.name = "MoonEPExperts",
                     .device = [](const Facts& f) { return f.is("cuda"); },
                     .activations = "SILU",
                     .keys = unquantized,
                     .refused_exchange = [](const Facts& f) { return !f.exchange_is("moonep") || f.deployment.parallel.enable_eplb; }}),
    of(kVllm2026_11, kOpen,
       RestatedClass{.name = "TrtLlmMxfp4LoRAExperts",
                     .device = with_trtllm,
                     .activations = "SWIGLUOAI SILU",
                     .keys = mxfp4_on_16_bits,
                     .refused_exchange = more_than_one_dispatch,
                     .lora = true}),
};

}  // namespace

std::span<const RestatedClass> restated_class_rows() { return kRows; }

}  // namespace mx::props
