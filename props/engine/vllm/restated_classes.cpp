// What each expert class refuses, and in which order it is asked.

#include <array>
#include <stdexcept>

#include "props/engine/vllm/restated.hpp"

namespace mx::props {
namespace {

using Text = std::string_view;
using Holds = bool (*)(const Facts& f);

/// The rules of a class. Sets are words with blanks between.
struct ClassRow {
  Text name;
  Holds device;
  Text activations;
  Holds keys;
  Holds refused_exchange = [](const Facts&) { return false; };
  Text routings{};  ///< empty: all
  bool ungated = false;
  bool batched = false;
  bool invariant = false;
  bool lora = false;
};

constexpr Text kNine = "SILU GELU GELU_TANH SWIGLUOAI SWIGLUSTEP SILU_NO_MUL GELU_NO_MUL GELU_TANH_NO_MUL RELU2_NO_MUL";
constexpr Text kEight = "SILU GELU GELU_TANH SWIGLUOAI SILU_NO_MUL GELU_NO_MUL GELU_TANH_NO_MUL RELU2_NO_MUL";
constexpr Text kOnXpu = "SILU GELU SWIGLUOAI RELU2_NO_MUL";
constexpr Text kSoftmax = "Renormalize RenormalizeNaive";
constexpr Text kOnCpu = "Default Renormalize RenormalizeNaive";
constexpr Text kTrtllm = "Renormalize DeepSeekV3 RenormalizeNaive SigmoidRenorm MiniMax2 Simulated";
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
bool with_aiter(const Facts& f) {
  const bool enabled = f.gfx("gfx942 gfx950") && f.deployment.software.aiter_found && f.word("VLLM_ROCM_USE_AITER");
  return enabled && f.word("VLLM_ROCM_USE_AITER_MOE", true);
}

// Keys.

bool any_keys(const Facts&) { return true; }
bool mxfp4_on_16_bits(const Facts& f) { return f.keys_are("kMxfp4Static", "None"); }
bool nvfp4(const Facts& f) { return f.keys_are("kNvfp4Static", "kNvfp4Dynamic"); }
bool fp8_blocks(const Facts& f) { return f.keys_are("kFp8Static128BlockSym", "kFp8Dynamic128Sym"); }
bool fp8_channels(const Facts& f) { return f.keys_are("kFp8StaticChannelSym", "kFp8DynamicTokenSym"); }
bool mxfp8(const Facts& f) { return f.keys_are("kMxfp8Static", "kMxfp8Dynamic"); }
bool unquantized(const Facts& f) { return f.keys_are("None", "None"); }
bool five_of_fp8(const Facts& f) {
  return fp8_blocks(f) || fp8_channels(f) || f.keys_are("kFp8StaticTensorSym", "kFp8DynamicTokenSym kFp8StaticTensorSym kFp8DynamicTensorSym");
}
bool marlin_keys(const Facts& f) { return has_word(kMarlinWeights, f.weight); }
bool cutlass_fp8(const Facts& f) { return fp8_channels(f) || f.keys_are("kFp8StaticTensorSym", "kFp8DynamicTensorSym kFp8StaticTensorSym"); }
bool triton_keys(const Facts& f) {
  if (f.is("cuda") && f.capability() >= 75 && f.keys_are("kInt8StaticChannelSym", "kInt8DynamicTokenSym")) return true;
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

constexpr std::array kRows = {
    ClassRow{"TrtLlmMxfp4ExpertsMonolithic", with_flashinfer, "SWIGLUOAI SILU",
             [](const Facts& f) { return f.keys_are("kMxfp4Static", "None kMxfp8Dynamic"); }, more_than_one_dispatch, kSoftmax},
    ClassRow{"TrtLlmMxfp4ExpertsModular", with_flashinfer, "SWIGLUOAI SILU",
             [](const Facts& f) { return f.keys_are("kMxfp4Static", "None kMxfp8Dynamic"); }},
    ClassRow{"DeepGemmFP4Experts", [](const Facts& f) { return f.family(100) && with_deep_gemm(f); }, "SILU SWIGLUSTEP",
             [](const Facts& f) { return f.keys_are("kMxfp4Static", "kFp8Dynamic128Sym"); }, nvlink},
    ClassRow{.name = "FlashInferExperts",
             .device = with_flashinfer_cutlass,
             .activations = "SILU RELU2_NO_MUL SWIGLUOAI",
             .keys = flashinfer_cutlass_keys,
             .ungated = true},
    ClassRow{"OAITritonMxfp4ExpertsMonolithic", with_triton_kernels, "SWIGLUOAI", mxfp4_on_16_bits, more_than_one_dispatch, kSoftmax},
    ClassRow{"OAITritonExperts", with_triton_kernels, "SWIGLUOAI", mxfp4_on_16_bits},
    ClassRow{.name = "UnfusedOAITritonExperts",
             .device = with_triton_kernels,
             .activations = "SILU GELU SWIGLUOAI SWIGLUSTEP",
             .keys = mxfp4_on_16_bits,
             .lora = true},
    ClassRow{.name = "MarlinExperts",
             .device = with_marlin,
             .activations = kNine,
             .keys = marlin_keys,
             .refused_exchange = nvlink,
             .ungated = true,
             .lora = true},
    ClassRow{.name = "BatchedMarlinExperts",
             .device = with_marlin,
             .activations = kNine,
             .keys = marlin_keys,
             .refused_exchange = nvlink,
             .ungated = true,
             .batched = true},
    ClassRow{"AiterExperts", with_aiter, "SILU GELU SWIGLUOAI", aiter_keys, nvlink},
    ClassRow{"AiterW4A8ExpertsMonolithic",
             [](const Facts& f) { return f.gfx("gfx950") && f.deployment.software.aiter_found && f.word("VLLM_ROCM_USE_AITER"); }, "SWIGLUOAI",
             [](const Facts& f) { return f.keys_are("kMxfp4Static", "kFp8StaticTensorSym"); }, more_than_one_dispatch, kSoftmax},
    ClassRow{.name = "XPUExpertsMXFp4", .device = on_xpu, .activations = kOnXpu, .keys = mxfp4_on_16_bits, .ungated = true},
    ClassRow{.name = "XPUExpertsFp8",
             .device = on_xpu,
             .activations = kOnXpu,
             .keys = [](const Facts& f) { return f.keys_are("kFp8StaticTensorSym", "None kFp8DynamicTensorSym"); },
             .ungated = true},
    ClassRow{.name = "XPUExpertsMxfp8",
             .device = on_xpu,
             .activations = kOnXpu,
             .keys = [](const Facts& f) { return f.keys_are("kMxfp8Static", "None kMxfp8Dynamic"); },
             .ungated = true},
    ClassRow{.name = "CPUExpertsMxfp4", .device = on_cpu, .activations = "SILU SWIGLUOAI", .keys = mxfp4_on_16_bits, .routings = kOnCpu},
    ClassRow{.name = "CPUExpertsFp8", .device = on_cpu, .activations = "SILU", .keys = fp8_blocks, .routings = kOnCpu},
    ClassRow{.name = "OCP_MXQuantizationEmulationTritonExperts",
             .device = not_on_cpu,
             .activations = kNine,
             .keys = any_keys,
             .refused_exchange = nvlink,
             .ungated = true,
             .invariant = true,
             .lora = true},
    ClassRow{.name = "Nvfp4QuantizationEmulationTritonExperts",
             .device = not_on_cpu,
             .activations = kNine,
             .keys = nvfp4,
             .refused_exchange = nvlink,
             .ungated = true,
             .invariant = true,
             .lora = true},
    ClassRow{.name = "TrtLlmNvFp4ExpertsMonolithic",
             .device = with_trtllm,
             .activations = "SILU RELU2_NO_MUL GELU",
             .keys = nvfp4,
             .refused_exchange = exchange_or_eplb,
             .routings = kTrtllmAndLlama,
             .ungated = true},
    ClassRow{.name = "TrtLlmNvFp4ExpertsModular", .device = with_trtllm, .activations = "SILU RELU2_NO_MUL GELU", .keys = nvfp4, .ungated = true},
    ClassRow{"FlashInferCuteDSLExperts", [](const Facts& f) { return f.cuda_family(100) && f.deployment.software.has_flashinfer_cutedsl_moe_nvfp4; },
             "SILU", nvfp4},
    ClassRow{.name = "FlashInferCuteDSLBatchedExperts",
             .device = [](const Facts& f) { return f.cuda_family(100) && f.deployment.software.has_flashinfer_cutedsl_grouped_gemm_nt_masked; },
             .activations = "SILU",
             .keys = nvfp4,
             .batched = true},
    ClassRow{"FlashInferB12xExperts", [](const Facts& f) { return f.cuda_family(120) && f.deployment.software.has_flashinfer_b12x_moe; }, "SILU",
             nvfp4},
    ClassRow{.name = "CutlassExpertsFp4",
             .device = [](const Facts& f) { return f.cuda_family(100) || f.cuda_family(110) || f.cuda_family(120); },
             .activations = "SILU GELU SWIGLUOAI SWIGLUSTEP SILU_NO_MUL GELU_NO_MUL RELU2_NO_MUL",
             .keys = nvfp4,
             .refused_exchange = [](const Facts& f) { return f.ep_size != 1; },
             .ungated = true},
    ClassRow{.name = "TrtLlmFp8ExpertsMonolithic",
             .device = with_trtllm,
             .activations = "SILU RELU2_NO_MUL",
             .keys = [](const Facts& f) { return fp8_blocks(f) || f.keys_are("kFp8StaticTensorSym", "kFp8StaticTensorSym") || mxfp8(f); },
             .refused_exchange = eplb_or_no_gather,
             .routings = kTrtllm,
             .ungated = true},
    ClassRow{.name = "TrtLlmFp8ExpertsModular",
             .device = with_trtllm,
             .activations = "SILU RELU2_NO_MUL",
             .keys = [](const Facts& f) { return fp8_blocks(f) || mxfp8(f); },
             .refused_exchange = eplb_or_no_gather,
             .ungated = true},
    ClassRow{"TritonOrDeepGemmExperts", with_deep_gemm, "SILU SWIGLUSTEP", [](const Facts& f) { return fp8_blocks(f) && triton_keys(f); }, nvlink},
    ClassRow{.name = "BatchedDeepGemmExperts", .device = with_deep_gemm, .activations = "SILU", .keys = fp8_blocks, .batched = true},
    ClassRow{.name = "TritonExperts",
             .device = not_on_cpu,
             .activations = kNine,
             .keys = triton_keys,
             .refused_exchange = nvlink,
             .ungated = true,
             .invariant = true,
             .lora = true},
    ClassRow{.name = "BatchedTritonExperts",
             .device = on_cuda_or_rocm,
             .activations = kEight,
             .keys = batched_triton_keys,
             .ungated = true,
             .batched = true},
    ClassRow{"TritonOrCutlassExperts", with_group_gemm, "SILU GELU SWIGLUOAI", [](const Facts& f) { return cutlass_fp8(f) && triton_keys(f); },
             nvlink_or_deepep},
    ClassRow{
        .name = "CutlassBatchedExpertsFp8", .device = with_group_gemm, .activations = "SILU GELU SWIGLUOAI", .keys = cutlass_fp8, .batched = true},
    ClassRow{"CutlassExpertsW4A8Fp8", with_group_gemm, "SILU GELU SWIGLUOAI",
             [](const Facts& f) { return f.keys_are("kInt4Static", "kFp8DynamicTokenSym"); }},
};

constexpr Text kHummingClasses = "BatchedHummingGroupedExperts HummingGroupedExperts HummingIndexedExperts";

/// These replace the whole check: the format and the preferred GEMM alone count.
std::string humming_failure(Text name, const Facts& f) {
  const bool batched_class = name == "BatchedHummingGroupedExperts";
  if (f.batched() != batched_class) return "humming_activation_format";
  if (batched_class) return "";
  const auto found = f.deployment.env.find("VLLM_HUMMING_MOE_GEMM_TYPE");
  std::string type = found == f.deployment.env.end() ? "" : found->second;
  for (char& c : type) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const bool wants_grouped = type == "grouped" || type == "grouped_contiguous";
  return wants_grouped == (name == "HummingGroupedExperts") ? "" : "humming_gemm_type";
}

std::string first_failure(const ClassRow& row, const Facts& f) {
  const deployment::LayerConfig& layer = f.deployment.layer;
  if (row.name == "CutlassExpertsW4A8Fp8" && layer.in_dtype != "bfloat16") return "in_dtype";
  if (!row.device(f)) return row.name == "AiterExperts" ? "device+aiter_hint" : "device";
  if (!layer.is_act_and_mul && !row.ungated) return "no_act_and_mul";
  if (!has_word(row.activations, layer.activation)) return "activation";
  if (!row.keys(f)) {
    // The message needs the text of both keys, and these have none.
    if (has_word("kInt4Static kInt8Static", f.weight) || has_word("kInt4Static kInt8Static", f.activation)) throw EngineError{"KeyError"};
    return "quant_scheme";
  }
  if (row.refused_exchange(f)) return "parallel_config";
  const bool llama4_too = row.name == "TrtLlmFp8ExpertsMonolithic" && f.weight == "kFp8StaticTensorSym";
  if (!row.routings.empty() && !has_word(llama4_too ? kTrtllmAndLlama : row.routings, layer.routing_method)) return "routing_method";
  if (f.batched() != row.batched) return "activation_format";
  if (f.integer("VLLM_BATCH_INVARIANT") && !row.invariant) return "batch_invariance";
  return layer.is_lora_enabled && !row.lora ? "lora" : "";
}

}  // namespace

std::vector<Text> restated_classes() {
  std::vector<Text> names = words_of(kHummingClasses);
  for (const ClassRow& row : kRows) names.push_back(row.name);
  return names;
}

std::string restated_verdict(Text kernel_class, const Facts& facts) {
  try {
    if (has_word(kHummingClasses, kernel_class)) return humming_failure(kernel_class, facts);
    for (const ClassRow& row : kRows) {
      if (row.name == kernel_class) return first_failure(row, facts);
    }
  } catch (const EngineError& error) {
    return "exc:" + error.type;
  }
  throw std::out_of_range("no restatement of class " + std::string(kernel_class));
}

}  // namespace mx::props
