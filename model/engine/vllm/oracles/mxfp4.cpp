// The mxfp4 oracle, gpt-oss path, as data. Source: vllm 7e1b45a09 (2026-05-22) fused_moe/oracle/mxfp4.py Mxfp4MoeBackend,
// backend_to_kernel_cls, map_mxfp4_backend, _get_priority_backends, select_mxfp4_moe_backend, mxfp4_round_up_hidden_size_and_intermediate_size.

#include <array>

#include "model/engine/vllm/tables.hpp"

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

constexpr std::array<Names, 2> kFlashinferBf16 = {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_BF16"};
constexpr std::array<Names, 1> kTrtllmBf16 = {"FLASHINFER_TRTLLM_MXFP4_BF16"};
constexpr std::array<Names, 1> kCutlassBf16 = {"FLASHINFER_CUTLASS_MXFP4_BF16"};

constexpr std::array kBf16 = {EnvVariable::flashinfer_mxfp4_bf16};
constexpr std::array kMxfp8 = {EnvVariable::flashinfer_mxfp4_mxfp8};
constexpr std::array kMxfp8Cutlass = {EnvVariable::flashinfer_mxfp4_mxfp8_cutlass};
constexpr std::array kUseMarlin = {EnvVariable::mxfp4_use_marlin};
// Capability alone is asked for, not the platform: gfx90a passes as 90 and fails on the device check afterwards.
constexpr Where kCap90{kEverything, cap_exactly(90), {}};
constexpr Where kFamily100{kEverything, cap_family(100), {}};
constexpr Where kOnXpu{bit(PlatformKind::xpu), kAnyCapability, {}};
constexpr Where kOnCpu{bit(PlatformKind::cpu), kAnyCapability, {}};

constexpr std::array kSteps = {
    // A conflict of keys comes before everything else, also before an unknown name.
    Step{.kind = StepKind::resolve_key},
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::rewrite, .when = {.named = true}},
    Step{.kind = StepKind::filter_keys},
    // Environment variables play no part for a named backend.
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::remove,
         .when = {.variables = kBf16, .switches = Switch::off},
         .backends = kFlashinferBf16,
         .why = "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16 is off"},
    Step{.kind = StepKind::force, .when = {.where = kCap90, .variables = kBf16}, .backends = kCutlassBf16, .key = QuantKey::none},
    Step{.kind = StepKind::force, .when = {.where = kFamily100, .variables = kBf16}, .backends = kTrtllmBf16, .key = QuantKey::none},
    Step{.kind = StepKind::raise,
         .when = {.variables = kBf16},
         .error_type = "ValueError",
         .why = "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16 is on, and no backend of it is for this device"},
    Step{.kind = StepKind::force, .when = {.variables = kMxfp8}, .backends = kTrtllmAfp8, .key = QuantKey::mxfp8_dynamic},
    Step{.kind = StepKind::force, .when = {.variables = kMxfp8Cutlass}, .backends = kCutlassAfp8, .key = QuantKey::mxfp8_dynamic},
    // Not rewritten to BATCHED_MARLIN: with a batched all2all backend this override always fails on the format.
    Step{.kind = StepKind::force, .when = {.variables = kUseMarlin}, .backends = kMarlin, .key = QuantKey::none},
    Step{.kind = StepKind::walk},
    // The requested key is dropped here: this is how CPU is reached at all, and how a wish for quantized activations is lost on it.
    Step{.kind = StepKind::force, .when = {.where = kOnXpu}, .backends = kXpu, .key = QuantKey::none},
    Step{.kind = StepKind::force, .when = {.where = kOnCpu}, .backends = kCpu, .key = QuantKey::none},
    // The engine's last line, NONE without a class, is for platforms other than these four.
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

}  // namespace

const OracleTables& mxfp4_tables() {
  static const std::vector<RoundingRow> roundings = roundings_of(kVllm2026_05);
  static const OracleTables tables = {
      .engine = kVllm2026_05,
      .name = "mxfp4",
      .weight_key = QuantKey::mxfp4_static,
      .keys = KeyPolicy::requested_or_own,
      .usual_weight_key = QuantKey::mxfp4_static,
      .usual_activation_key = QuantKey::none,
      .classes = kernel_classes(),
      .backends = kBackends,
      .user_names = kUserNames,
      .priority = kPriority,
      .to_front = {},
      .batched_rewrites = kRewrites,
      .survives_key_filter = "EMULATION",
      .steps = kSteps,
      .roundings = roundings,
  };
  return tables;
}

}  // namespace mx::oracle
