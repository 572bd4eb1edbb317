// The mxfp4 oracle, gpt-oss path, as data. Source: vllm 7e1b45a09 (2026-05-22) fused_moe/oracle/mxfp4.py Mxfp4MoeBackend,
// backend_to_kernel_cls, map_mxfp4_backend, _get_priority_backends, select_mxfp4_moe_backend, mxfp4_round_up_hidden_size_and_intermediate_size.

#include <array>

#include "model/oracle/tables.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 2> kTrtllmClasses = {"TrtLlmMxfp4ExpertsMonolithic", "TrtLlmMxfp4ExpertsModular"};
constexpr std::array<Names, 1> kDeepGemmClasses = {"DeepGemmFP4Experts"};
constexpr std::array<Names, 1> kFlashinferClasses = {"FlashInferExperts"};
constexpr std::array<Names, 1> kBatchedMarlinClasses = {"BatchedMarlinExperts"};
constexpr std::array<Names, 1> kMarlinClasses = {"MarlinExperts"};
constexpr std::array<Names, 1> kAiterClasses = {"AiterExperts"};
constexpr std::array<Names, 1> kAiterW4a8Classes = {"AiterW4A8ExpertsMonolithic"};
constexpr std::array<Names, 2> kTritonClasses = {"OAITritonMxfp4ExpertsMonolithic", "OAITritonExperts"};
constexpr std::array<Names, 1> kTritonUnfusedClasses = {"UnfusedOAITritonExperts"};
constexpr std::array<Names, 1> kXpuClasses = {"XPUExpertsMXFp4"};
constexpr std::array<Names, 1> kCpuClasses = {"CPUExpertsMxfp4"};
constexpr std::array<Names, 1> kEmulationClasses = {"OCP_MXQuantizationEmulationTritonExperts"};
constexpr std::array<Names, 3> kHummingClasses = {"BatchedHummingGroupedExperts", "HummingGroupedExperts", "HummingIndexedExperts"};

constexpr std::array kBackends = {
    BackendRow{"DEEPGEMM_MXFP4", kDeepGemmClasses, QuantKey::fp8_dynamic_128},
    BackendRow{"FLASHINFER_TRTLLM_MXFP4_MXFP8", kTrtllmClasses, QuantKey::mxfp8_dynamic},
    BackendRow{"FLASHINFER_TRTLLM_MXFP4_BF16", kTrtllmClasses, QuantKey::none},
    BackendRow{"FLASHINFER_CUTLASS_MXFP4_MXFP8", kFlashinferClasses, QuantKey::mxfp8_dynamic},
    BackendRow{"FLASHINFER_CUTLASS_MXFP4_BF16", kFlashinferClasses, QuantKey::none},
    BackendRow{"BATCHED_MARLIN", kBatchedMarlinClasses, QuantKey::none},
    BackendRow{"MARLIN", kMarlinClasses, QuantKey::none},
    BackendRow{"AITER_MXFP4_BF16", kAiterClasses, QuantKey::none},
    BackendRow{"AITER_MXFP4_FP8", kAiterW4a8Classes, QuantKey::fp8_static_tensor},
    BackendRow{"AITER_MXFP4_MXFP4", kAiterClasses, QuantKey::mxfp4_dynamic},
    BackendRow{"TRITON", kTritonClasses, QuantKey::none},
    BackendRow{"TRITON_UNFUSED", kTritonUnfusedClasses, QuantKey::none},
    BackendRow{"XPU", kXpuClasses, QuantKey::none},
    BackendRow{"CPU", kCpuClasses, QuantKey::none},
    BackendRow{"EMULATION", kEmulationClasses, QuantKey::none},
    BackendRow{"HUMMING", kHummingClasses, QuantKey::none, &Software::humming_installed, "humming"},
    BackendRow{"NONE", {}, QuantKey::none},
};

constexpr std::array<Names, 1> kDeepGemm = {"DEEPGEMM_MXFP4"};
constexpr std::array<Names, 2> kTrtllm = {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kTrtllmAfp8 = {"FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 2> kCutlass = {"FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kCutlassAfp8 = {"FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kTriton = {"TRITON"};
constexpr std::array<Names, 1> kTritonUnfused = {"TRITON_UNFUSED"};
constexpr std::array<Names, 1> kHumming = {"HUMMING"};
constexpr std::array<Names, 1> kMarlin = {"MARLIN"};
constexpr std::array<Names, 3> kAiter = {"AITER_MXFP4_BF16", "AITER_MXFP4_FP8", "AITER_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kAiterFp8 = {"AITER_MXFP4_FP8"};
constexpr std::array<Names, 1> kAiterMxfp4 = {"AITER_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kXpu = {"XPU"};
constexpr std::array<Names, 1> kCpu = {"CPU"};
constexpr std::array<Names, 1> kEmulation = {"EMULATION"};

constexpr std::array kUserNames = {
    UserNameRow{"deep_gemm", kDeepGemm},
    UserNameRow{"flashinfer_trtllm", kTrtllm},
    UserNameRow{"flashinfer_trtllm_afp8", kTrtllmAfp8},
    UserNameRow{"flashinfer_cutlass", kCutlass},
    UserNameRow{"flashinfer_cutlass_afp8", kCutlassAfp8},
    UserNameRow{"triton", kTriton},
    UserNameRow{"triton_unfused", kTritonUnfused},
    UserNameRow{"humming", kHumming},
    UserNameRow{"marlin", kMarlin},
    UserNameRow{"aiter", kAiter},
    UserNameRow{"aiter_mxfp4_fp8", kAiterFp8},
    UserNameRow{"aiter_mxfp4_mxfp4", kAiterMxfp4},
    UserNameRow{"xpu", kXpu},
    UserNameRow{"cpu", kCpu},
    UserNameRow{"emulation", kEmulation},
};

// TRITON_UNFUSED, HUMMING, EMULATION, CPU and DEEPGEMM_MXFP4 are reached by name (CPU also by fallback) only.
constexpr std::array<Names, 11> kPriority = {
    "FLASHINFER_TRTLLM_MXFP4_BF16",
    "FLASHINFER_TRTLLM_MXFP4_MXFP8",
    "AITER_MXFP4_BF16",
    "AITER_MXFP4_FP8",
    "AITER_MXFP4_MXFP4",
    "TRITON",
    "FLASHINFER_CUTLASS_MXFP4_BF16",
    "FLASHINFER_CUTLASS_MXFP4_MXFP8",
    "MARLIN",
    "BATCHED_MARLIN",
    "XPU",
};

// MARLIN alone has a batched member here.
constexpr std::array kRewrites = {RewriteRow{"MARLIN", "BATCHED_MARLIN"}};

// Capability 90 alone is asked for, not the platform: gfx90a passes here and fails on the device check afterwards.
constexpr std::array kBf16Targets = {
    OverrideTarget{cap_exactly(90), "FLASHINFER_CUTLASS_MXFP4_BF16", QuantKey::none},
    OverrideTarget{cap_family(100), "FLASHINFER_TRTLLM_MXFP4_BF16", QuantKey::none},
};
constexpr std::array kMxfp8Targets = {OverrideTarget{kAnyCapability, "FLASHINFER_TRTLLM_MXFP4_MXFP8", QuantKey::mxfp8_dynamic}};
constexpr std::array kMxfp8CutlassTargets = {OverrideTarget{kAnyCapability, "FLASHINFER_CUTLASS_MXFP4_MXFP8", QuantKey::mxfp8_dynamic}};
// Not rewritten to BATCHED_MARLIN: with a batched all2all backend this override always fails on the format.
constexpr std::array kMarlinTargets = {OverrideTarget{kAnyCapability, "MARLIN", QuantKey::none}};
constexpr std::array<Names, 2> kFlashinferBf16 = {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_BF16"};

constexpr std::array kEnvOverrides = {
    EnvOverrideRow{EnvVariable::flashinfer_mxfp4_bf16, kBf16Targets, kFlashinferBf16},
    EnvOverrideRow{EnvVariable::flashinfer_mxfp4_mxfp8, kMxfp8Targets, {}},
    EnvOverrideRow{EnvVariable::flashinfer_mxfp4_mxfp8_cutlass, kMxfp8CutlassTargets, {}},
    EnvOverrideRow{EnvVariable::mxfp4_use_marlin, kMarlinTargets, {}},
};

constexpr std::array kFallbacks = {
    FallbackRow{PlatformKind::xpu, "XPU", QuantKey::none},
    FallbackRow{PlatformKind::cpu, "CPU", QuantKey::none},
};

constexpr std::array<Names, 2> kMarlins = {"MARLIN", "BATCHED_MARLIN"};
constexpr std::array kRoundings = {
    RoundingRow{kDeepGemm, std::nullopt, 128, 128}, RoundingRow{kMarlins, PlatformKind::xpu, 128, 128},
    RoundingRow{kMarlins, std::nullopt, 256, 128},  RoundingRow{kTrtllm, std::nullopt, 256, 256},
    RoundingRow{kCutlass, std::nullopt, 128, 128},  RoundingRow{{}, PlatformKind::rocm, 256, 256},
    RoundingRow{kCpu, std::nullopt, 32, 32},        RoundingRow{{}, std::nullopt, 1, 64},
};

constexpr OracleTables kTablesWithoutClasses = {QuantKey::mxfp4_static, {},         kBackends, kUserNames, kPriority, "EMULATION", kRewrites,
                                                kEnvOverrides,          kFallbacks, kRoundings};

}  // namespace

const OracleTables& mxfp4_tables() {
  static const OracleTables tables = [] {
    OracleTables whole = kTablesWithoutClasses;
    whole.classes = kernel_classes();
    return whole;
  }();
  return tables;
}

}  // namespace mx::oracle
