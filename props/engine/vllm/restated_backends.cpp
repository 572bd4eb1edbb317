// The backends of each oracle and their names.

#include <algorithm>
#include <array>

#include "props/engine/vllm/restated.hpp"

namespace mx::props {
namespace {

using Text = std::string_view;

constexpr Text kMxfp4Oracle = "mxfp4 mxfp4_deepseek_v4";
constexpr Text kTrtllmMxfp4 = "TrtLlmMxfp4ExpertsMonolithic TrtLlmMxfp4ExpertsModular";
constexpr Text kTritonMxfp4 = "OAITritonMxfp4ExpertsMonolithic OAITritonExperts";
constexpr Text kHumming = "BatchedHummingGroupedExperts HummingGroupedExperts HummingIndexedExperts";
constexpr Text kTrtllmFp8 = "TrtLlmFp8ExpertsMonolithic TrtLlmFp8ExpertsModular";
constexpr Text kTrtllmNvfp4 = "TrtLlmNvFp4ExpertsMonolithic TrtLlmNvFp4ExpertsModular";

constexpr std::array kBackends = {
    RestatedBackend{kMxfp4Oracle, "DEEPGEMM_MXFP4", "DeepGemmFP4Experts", "kFp8Dynamic128Sym", "deep_gemm"},
    RestatedBackend{kMxfp4Oracle, "FLASHINFER_TRTLLM_MXFP4_BF16", kTrtllmMxfp4, "None", "flashinfer_trtllm"},
    RestatedBackend{kMxfp4Oracle, "FLASHINFER_TRTLLM_MXFP4_MXFP8", kTrtllmMxfp4, "kMxfp8Dynamic", "flashinfer_trtllm flashinfer_trtllm_afp8"},
    RestatedBackend{kMxfp4Oracle, "FLASHINFER_CUTLASS_MXFP4_BF16", "FlashInferExperts", "None", "flashinfer_cutlass"},
    RestatedBackend{kMxfp4Oracle, "FLASHINFER_CUTLASS_MXFP4_MXFP8", "FlashInferExperts", "kMxfp8Dynamic",
                    "flashinfer_cutlass flashinfer_cutlass_afp8"},
    RestatedBackend{kMxfp4Oracle, "BATCHED_MARLIN", "BatchedMarlinExperts", "None", ""},
    RestatedBackend{kMxfp4Oracle, "MARLIN", "MarlinExperts", "None", "marlin"},
    RestatedBackend{kMxfp4Oracle, "AITER_MXFP4_BF16", "AiterExperts", "None", "aiter"},
    RestatedBackend{kMxfp4Oracle, "AITER_MXFP4_FP8", "AiterW4A8ExpertsMonolithic", "kFp8StaticTensorSym", "aiter aiter_mxfp4_fp8"},
    RestatedBackend{kMxfp4Oracle, "AITER_MXFP4_MXFP4", "AiterExperts", "kMxfp4Dynamic", "aiter aiter_mxfp4_mxfp4"},
    RestatedBackend{kMxfp4Oracle, "TRITON", kTritonMxfp4, "None", "triton"},
    RestatedBackend{kMxfp4Oracle, "TRITON_UNFUSED", "UnfusedOAITritonExperts", "None", "triton_unfused"},
    RestatedBackend{kMxfp4Oracle, "XPU", "XPUExpertsMXFp4", "None", "xpu"},
    RestatedBackend{kMxfp4Oracle, "CPU", "CPUExpertsMxfp4", "None", "cpu"},
    RestatedBackend{kMxfp4Oracle, "EMULATION", "OCP_MXQuantizationEmulationTritonExperts", "None", "emulation"},
    RestatedBackend{kMxfp4Oracle, "HUMMING", kHumming, "None", "humming"},
    RestatedBackend{kMxfp4Oracle, "NONE", "", "None", ""},

    RestatedBackend{.oracles = "nvfp4", .name = "FLASHINFER_TRTLLM", .classes = kTrtllmNvfp4, .wishes = "flashinfer_trtllm", .global_sf = true},
    RestatedBackend{
        .oracles = "nvfp4", .name = "FLASHINFER_CUTLASS", .classes = "FlashInferExperts", .wishes = "flashinfer_cutlass", .global_sf = true},
    RestatedBackend{
        .oracles = "nvfp4", .name = "FLASHINFER_CUTEDSL", .classes = "FlashInferCuteDSLExperts", .wishes = "flashinfer_cutedsl", .global_sf = true},
    RestatedBackend{.oracles = "nvfp4", .name = "FLASHINFER_CUTEDSL_BATCHED", .classes = "FlashInferCuteDSLBatchedExperts", .global_sf = true},
    RestatedBackend{
        .oracles = "nvfp4", .name = "FLASHINFER_B12X", .classes = "FlashInferB12xExperts", .wishes = "flashinfer_b12x", .global_sf = true},
    RestatedBackend{.oracles = "nvfp4", .name = "VLLM_CUTLASS", .classes = "CutlassExpertsFp4", .wishes = "cutlass"},
    RestatedBackend{.oracles = "nvfp4", .name = "MARLIN", .classes = "MarlinExperts", .wishes = "marlin"},
    RestatedBackend{.oracles = "nvfp4", .name = "EMULATION", .classes = "Nvfp4QuantizationEmulationTritonExperts", .wishes = "emulation"},

    RestatedBackend{.oracles = "fp8", .name = "FLASHINFER_TRTLLM", .classes = kTrtllmFp8, .wishes = "flashinfer_trtllm"},
    RestatedBackend{.oracles = "fp8", .name = "FLASHINFER_CUTLASS", .classes = "FlashInferExperts", .wishes = "flashinfer_cutlass"},
    RestatedBackend{.oracles = "fp8", .name = "DEEPGEMM", .classes = "TritonOrDeepGemmExperts", .wishes = "deep_gemm"},
    RestatedBackend{.oracles = "fp8", .name = "BATCHED_DEEPGEMM", .classes = "BatchedDeepGemmExperts"},
    RestatedBackend{.oracles = "fp8", .name = "MARLIN", .classes = "MarlinExperts", .wishes = "marlin"},
    RestatedBackend{.oracles = "fp8", .name = "TRITON", .classes = "TritonExperts", .wishes = "triton"},
    RestatedBackend{.oracles = "fp8", .name = "BATCHED_TRITON", .classes = "BatchedTritonExperts"},
    RestatedBackend{.oracles = "fp8", .name = "AITER", .classes = "AiterExperts", .wishes = "aiter"},
    RestatedBackend{.oracles = "fp8", .name = "VLLM_CUTLASS", .classes = "TritonOrCutlassExperts", .wishes = "cutlass"},
    RestatedBackend{.oracles = "fp8", .name = "BATCHED_VLLM_CUTLASS", .classes = "CutlassBatchedExpertsFp8"},
    RestatedBackend{.oracles = "fp8", .name = "XPU", .classes = "XPUExpertsFp8 XPUExpertsMxfp8"},
    RestatedBackend{.oracles = "fp8", .name = "CPU", .classes = "CPUExpertsFp8"},
    RestatedBackend{.oracles = "fp8", .name = "NONE"},

    RestatedBackend{
        .oracles = "mxfp8", .name = "FLASHINFER_TRTLLM", .classes = kTrtllmFp8, .own_key = "kMxfp8Dynamic", .wishes = "flashinfer_trtllm"},
    RestatedBackend{.oracles = "mxfp8", .name = "MARLIN", .classes = "MarlinExperts", .own_key = "kMxfp8Dynamic", .wishes = "marlin"},
    RestatedBackend{.oracles = "mxfp8", .name = "XPU", .classes = "XPUExpertsFp8 XPUExpertsMxfp8", .own_key = "kMxfp8Dynamic", .wishes = "xpu"},

    RestatedBackend{.oracles = "w4a8", .name = "CUTLASS", .classes = "CutlassExpertsW4A8Fp8"},
};

}  // namespace

std::span<const RestatedBackend> restated_backends() { return kBackends; }

const RestatedBackend* restated_backend(Text oracle, Text name) {
  const auto found =
      std::find_if(kBackends.begin(), kBackends.end(), [&](const RestatedBackend& row) { return has_word(row.oracles, oracle) && row.name == name; });
  return found == kBackends.end() ? nullptr : &*found;
}

Text batched_member(Text oracle, Text backend) {
  if (has_word(kMxfp4Oracle, oracle) && backend == "MARLIN") return "BATCHED_MARLIN";
  if (oracle == "nvfp4" && backend == "FLASHINFER_CUTEDSL") return "FLASHINFER_CUTEDSL_BATCHED";
  if (oracle != "fp8") return backend;
  if (backend == "DEEPGEMM") return "BATCHED_DEEPGEMM";
  if (backend == "TRITON") return "BATCHED_TRITON";
  return backend == "VLLM_CUTLASS" ? "BATCHED_VLLM_CUTLASS" : backend;
}

bool wish_means(Text oracle, Text wish, Text backend) {
  return std::any_of(kBackends.begin(), kBackends.end(), [&](const RestatedBackend& row) {
    return has_word(row.oracles, oracle) && has_word(row.wishes, wish) && (row.name == backend || batched_member(oracle, row.name) == backend);
  });
}

}  // namespace mx::props
