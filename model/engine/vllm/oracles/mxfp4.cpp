// The mxfp4 oracle, gpt-oss path, as data. Source: vllm 7e1b45a09, 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/mxfp4.py Mxfp4MoeBackend,
// backend_to_kernel_cls, map_mxfp4_backend, _get_priority_backends, select_mxfp4_moe_backend, mxfp4_round_up_hidden_size_and_intermediate_size.

#include <array>

#include "model/engine/vllm/oracles/mxfp4_rows.hpp"
#include "model/engine/vllm/oracles/shared.hpp"

namespace mx::engine {
namespace {

constexpr std::array<Names, 2> kTrtllmClasses = {"TrtLlmMxfp4ExpertsMonolithic", "TrtLlmMxfp4ExpertsModular"};
constexpr std::array<Names, 1> kDeepGemmClasses = {"DeepGemmFP4Experts"};
constexpr std::array<Names, 1> kFlashinferClasses = {"FlashInferExperts"};
constexpr std::array<Names, 1> kBatchedMarlinClasses = {"BatchedMarlinExperts"};
constexpr std::array<Names, 1> kMarlinClasses = {"MarlinExperts"};
constexpr std::array<Names, 1> kAiterClasses = {"AiterExperts"};
constexpr std::array<Names, 1> kAiterW4a8Classes = {"AiterW4A8ExpertsMonolithic"};
constexpr std::array<Names, 2> kTritonClasses = {"OAITritonMxfp4ExpertsMonolithic", "OAITritonExperts"};
constexpr std::array<Names, 1> kTritonUnfusedClasses = {"UnfusedOAITritonExperts"};
constexpr std::array<Names, 1> kXpuClassesMay = {"XPUExpertsMXFp4"};
constexpr std::array<Names, 1> kXpuClasses = {"XPUExpertsMxFp4"};
constexpr std::array<Names, 2> kAiterBothClasses = {"AiterExperts", "AiterW4A16ExpertsMonolithic"};
constexpr std::array<Names, 1> kAiterMxfp4Classes = {"AiterMxfp4Experts"};
constexpr std::array<Names, 1> kAiterTritonClasses = {"AiterW4A16ExpertsMonolithic"};
constexpr std::array<Names, 1> kAiterTritonMxfp4Classes = {"AiterW4A4ExpertsMonolithic"};
constexpr std::array<Names, 1> kCutlassMxfp4Classes = {"CutlassExpertsMxfp4"};
constexpr std::array<Names, 1> kMoeEpClasses = {"FlashInferMoeEpExperts"};
constexpr std::array<Names, 1> kB12xClasses = {"B12xExperts"};
constexpr std::array<Names, 1> kCpuClasses = {"CPUExpertsMxfp4"};
constexpr std::array<Names, 1> kEmulationClasses = {"OCP_MXQuantizationEmulationTritonExperts"};

constexpr BackendRow backend(std::string_view name, std::span<const Names> classes, deployment::QuantKey own_key,
                             deployment::Versions versions = kAlways) {
  return {.name = name, .classes = classes, .own_key = own_key, .versions = versions};
}
/// EMULATION takes any activations: it is asked with those that were requested.
constexpr BackendRow emulation(deployment::Versions versions, bool takes_requested_key) {
  BackendRow row = backend("EMULATION", kEmulationClasses, deployment::QuantKey::none, versions);
  row.takes_requested_key = takes_requested_key;
  return row;
}
constexpr BackendRow humming_of_may() {
  BackendRow row = backend("HUMMING", kHummingClasses, deployment::QuantKey::none, kMay);
  row.module = &deployment::Software::humming_installed;
  row.module_name = "humming";
  return row;
}
constexpr BackendRow with_lora_class(BackendRow row, std::string_view kernel_class) {
  row.lora_class = kernel_class;
  return row;
}
constexpr BackendRow refusing_lora_by_name(BackendRow row) {
  row.refuses_lora_by_name = true;
  return row;
}

constexpr std::array kBackends = {
    backend("DEEPGEMM_MXFP4", kDeepGemmClasses, deployment::QuantKey::fp8_dynamic_128),
    backend("FLASHINFER_TRTLLM_MXFP4_MXFP8", kTrtllmClasses, deployment::QuantKey::mxfp8_dynamic, kUntilNovember),
    refusing_lora_by_name(backend("FLASHINFER_TRTLLM_MXFP4_MXFP8", kTrtllmClasses, deployment::QuantKey::mxfp8_dynamic, kSinceNovember)),
    backend("FLASHINFER_TRTLLM_MXFP4_BF16", kTrtllmClasses, deployment::QuantKey::none, kUntilNovember),
    with_lora_class(backend("FLASHINFER_TRTLLM_MXFP4_BF16", kTrtllmClasses, deployment::QuantKey::none, kSinceNovember), "TrtLlmMxfp4LoRAExperts"),
    backend("FLASHINFER_CUTLASS_MXFP4_MXFP8", kFlashinferClasses, deployment::QuantKey::mxfp8_dynamic),
    backend("FLASHINFER_CUTLASS_MXFP4_BF16", kFlashinferClasses, deployment::QuantKey::none),
    backend("BATCHED_MARLIN", kBatchedMarlinClasses, deployment::QuantKey::none),
    backend("MARLIN", kMarlinClasses, deployment::QuantKey::none),
    backend("AITER_MXFP4_BF16", kAiterClasses, deployment::QuantKey::none, kMay),
    backend("AITER_MXFP4_BF16", kAiterBothClasses, deployment::QuantKey::none, kAugust),
    backend("AITER_MXFP4_BF16", kAiterMxfp4Classes, deployment::QuantKey::none, kSinceNovember),
    backend("AITER_TRITON_MXFP4_BF16", kAiterTritonClasses, deployment::QuantKey::none, kSinceNovember),
    backend("AITER_MXFP4_FP8", kAiterW4a8Classes, deployment::QuantKey::fp8_static_tensor),
    backend("AITER_MXFP4_MXFP4", kAiterClasses, deployment::QuantKey::mxfp4_dynamic, kUntilNovember),
    backend("AITER_MXFP4_MXFP4", kAiterMxfp4Classes, deployment::QuantKey::mxfp4_dynamic, kSinceNovember),
    backend("AITER_TRITON_MXFP4_MXFP4", kAiterTritonMxfp4Classes, deployment::QuantKey::mxfp4_dynamic, kSinceNovember),
    backend("CUTLASS_MXFP4_MXFP4", kCutlassMxfp4Classes, deployment::QuantKey::mxfp4_dynamic, kSinceNovember),
    backend("TRITON", kTritonClasses, deployment::QuantKey::none),
    backend("TRITON_UNFUSED", kTritonUnfusedClasses, deployment::QuantKey::none),
    backend("XPU", kXpuClassesMay, deployment::QuantKey::none, kMay),
    backend("XPU", kXpuClasses, deployment::QuantKey::none, kSinceAugust),
    backend("CPU", kCpuClasses, deployment::QuantKey::none),
    emulation(kMay, false),
    emulation(kSinceAugust, true),
    humming_of_may(),
    backend("HUMMING", kHummingClasses, deployment::QuantKey::none, kSinceAugust),
    backend("B12X_MXFP4_MXFP8", kB12xClasses, deployment::QuantKey::mxfp8_dynamic, kSinceAugust),
    backend("B12X_MXFP4_BF16", kB12xClasses, deployment::QuantKey::none, kSinceAugust),
    backend("FLASHINFER_MOE_EP_CUTEDSL", kMoeEpClasses, deployment::QuantKey::none, kSinceNovember),
    backend("FLASHINFER_MOE_EP_DEEP_GEMM", kMoeEpClasses, deployment::QuantKey::none, kSinceNovember),
    backend("NONE", {}, deployment::QuantKey::none),
};

constexpr std::array<Names, 1> kDeepGemm = {"DEEPGEMM_MXFP4"};
constexpr std::array<Names, 2> kTrtllm = {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kTrtllmAfp8 = {"FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 2> kCutlass = {"FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kCutlassAfp8 = {"FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kTriton = {"TRITON"};
constexpr std::array<Names, 1> kTritonUnfused = {"TRITON_UNFUSED"};
constexpr std::array<Names, 1> kMarlin = {"MARLIN"};
constexpr std::array<Names, 3> kAiter = {"AITER_MXFP4_BF16", "AITER_MXFP4_FP8", "AITER_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kAiterFp8 = {"AITER_MXFP4_FP8"};
constexpr std::array<Names, 1> kAiterMxfp4 = {"AITER_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kXpu = {"XPU"};
constexpr std::array<Names, 1> kCpu = {"CPU"};
constexpr std::array<Names, 1> kEmulation = {"EMULATION"};
constexpr std::array<Names, 5> kAiterOrTriton = {"AITER_MXFP4_BF16", "AITER_TRITON_MXFP4_BF16", "AITER_MXFP4_FP8", "AITER_MXFP4_MXFP4",
                                                 "AITER_TRITON_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kAiterTriton = {"AITER_TRITON_MXFP4_BF16"};
constexpr std::array<Names, 1> kAiterTritonMxfp4 = {"AITER_TRITON_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kMoeEpCuteDsl = {"FLASHINFER_MOE_EP_CUTEDSL"};
constexpr std::array<Names, 1> kMoeEpDeepGemm = {"FLASHINFER_MOE_EP_DEEP_GEMM"};

constexpr std::array kUserNames = {
    UserNameRow{"deep_gemm", kDeepGemm},
    UserNameRow{"flashinfer_trtllm", kTrtllm},
    UserNameRow{"flashinfer_trtllm_afp8", kTrtllmAfp8},
    UserNameRow{"flashinfer_cutlass", kCutlass},
    UserNameRow{"flashinfer_cutlass_afp8", kCutlassAfp8},
    UserNameRow{"triton", kTriton},
    UserNameRow{"triton_unfused", kTritonUnfused},
    UserNameRow{"humming", kHummingBackend},
    UserNameRow{"marlin", kMarlin},
    UserNameRow{"aiter", kAiter, kUntilNovember},
    UserNameRow{"aiter", kAiterOrTriton, kSinceNovember},
    UserNameRow{"aiter_triton_mxfp4_bf16", kAiterTriton, kSinceNovember},
    UserNameRow{"aiter_triton_mxfp4_mxfp4", kAiterTritonMxfp4, kSinceNovember},
    UserNameRow{"flashinfer_moe_ep_cutedsl", kMoeEpCuteDsl, kSinceNovember},
    UserNameRow{"flashinfer_moe_ep_mega_deep_gemm", kMoeEpDeepGemm, kSinceNovember},
    UserNameRow{"b12x", kB12xBoth, kSinceAugust},
    UserNameRow{"aiter_mxfp4_fp8", kAiterFp8},
    UserNameRow{"aiter_mxfp4_mxfp4", kAiterMxfp4},
    UserNameRow{"xpu", kXpu},
    UserNameRow{"cpu", kCpu},
    UserNameRow{"emulation", kEmulation},
};

// TRITON_UNFUSED, DEEPGEMM_MXFP4, B12X and, until 2026-11, HUMMING and CPU are reached by name (CPU also by fallback) only.
constexpr std::array kPriority = {
    PriorityRow{"FLASHINFER_TRTLLM_MXFP4_BF16"},
    PriorityRow{"FLASHINFER_TRTLLM_MXFP4_MXFP8"},
    PriorityRow{"AITER_MXFP4_BF16"},
    PriorityRow{"AITER_TRITON_MXFP4_BF16", kSinceNovember},
    PriorityRow{"AITER_MXFP4_FP8"},
    PriorityRow{"AITER_MXFP4_MXFP4"},
    PriorityRow{"TRITON"},
    PriorityRow{"FLASHINFER_CUTLASS_MXFP4_BF16"},
    PriorityRow{"FLASHINFER_CUTLASS_MXFP4_MXFP8"},
    PriorityRow{"CUTLASS_MXFP4_MXFP4", kSinceNovember},
    PriorityRow{"MARLIN"},
    PriorityRow{"BATCHED_MARLIN"},
    PriorityRow{"HUMMING", kSinceNovember},
    PriorityRow{"XPU"},
    PriorityRow{"CPU", kSinceNovember},
    PriorityRow{"EMULATION", kSinceAugust},
};
constexpr std::array kMoves = {
    FrontRow{.platform = deployment::PlatformKind::cuda,
             .backend = "TRITON",
             .capability = deployment::cap_family(120),
             .versions = kSinceNovember,
             .move = Move::behind,
             .beside = "BATCHED_MARLIN"},
    humming_before("MARLIN"),
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
constexpr deployment::Where kCap90{deployment::kEverything, deployment::cap_exactly(90), {}};
constexpr deployment::Where kFamily100{deployment::kEverything, deployment::cap_family(100), {}};
constexpr deployment::Where kOnXpu{deployment::bit(deployment::PlatformKind::xpu), deployment::kAnyCapability, {}};
constexpr deployment::Where kOnCpu{deployment::bit(deployment::PlatformKind::cpu), deployment::kAnyCapability, {}};

constexpr std::array kSteps = {
    // A conflict of keys comes before everything else, also before an unknown name.
    Step{.kind = StepKind::resolve_key},
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::rewrite, .when = {.named = true}},
    // b12x: the variable leaves 16-bit activations whatever was requested, and without a request nothing is filtered.
    Step{.kind = StepKind::candidates, .when = {.variables = kForceA16, .wish = "b12x"}, .backends = kB12xBf16, .versions = kSinceAugust},
    Step{.kind = StepKind::try_in_turn, .when = {.variables = kForceA16, .wish = "b12x"}, .versions = kSinceAugust},
    Step{.kind = StepKind::try_in_turn, .when = {.wish = "b12x", .key_requested = false}, .versions = kSinceAugust},
    Step{.kind = StepKind::filter_keys},
    // Environment variables play no part for a named backend.
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::remove,
         .when = {.variables = kBf16, .switches = Switch::off},
         .backends = kFlashinferBf16,
         .why = "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16 is off",
         .versions = kMay},
    Step{.kind = StepKind::force,
         .when = {.where = kCap90, .variables = kBf16},
         .backends = kCutlassBf16,
         .key = deployment::QuantKey::none,
         .versions = kMay},
    Step{.kind = StepKind::force,
         .when = {.where = kFamily100, .variables = kBf16},
         .backends = kTrtllmBf16,
         .key = deployment::QuantKey::none,
         .versions = kMay},
    Step{.kind = StepKind::raise,
         .when = {.variables = kBf16},
         .error_type = "ValueError",
         .why = "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16 is on, and no backend of it is for this device",
         .versions = kMay},
    Step{.kind = StepKind::force,
         .when = {.variables = kMxfp8},
         .backends = kTrtllmAfp8,
         .key = deployment::QuantKey::mxfp8_dynamic,
         .versions = kMay},
    Step{.kind = StepKind::force,
         .when = {.variables = kMxfp8Cutlass},
         .backends = kCutlassAfp8,
         .key = deployment::QuantKey::mxfp8_dynamic,
         .versions = kMay},
    // Not rewritten to BATCHED_MARLIN: with a batched all2all backend this override always fails on the format.
    Step{.kind = StepKind::force, .when = {.variables = kUseMarlin}, .backends = kMarlin, .key = deployment::QuantKey::none, .versions = kMay},
    Step{.kind = StepKind::walk},
    // The requested key is dropped here: this is how CPU is reached at all until 2026-11, and how a wish for quantized activations is lost on it.
    Step{.kind = StepKind::force, .when = {.where = kOnXpu}, .backends = kXpu, .key = deployment::QuantKey::none},
    Step{.kind = StepKind::force, .when = {.where = kOnCpu}, .backends = kCpu, .key = deployment::QuantKey::none, .versions = kUntilNovember},
    // The engine's last line, NONE without a class, is for platforms other than these four.
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

constexpr OracleSource kSource{kBackends, kUserNames, kPriority, kMoves, kSteps, Rounded::mxfp4};

OracleTables rest(deployment::Engine engine) {
  return {
      .name = "mxfp4",
      .weight_key = deployment::QuantKey::mxfp4_static,
      .keys = engine < deployment::kVllm2026_08 ? KeyPolicy::requested_or_own : KeyPolicy::own,
      .support_keys = KeyPolicy::requested_or_own,
      .usual_weight_key = deployment::QuantKey::mxfp4_static,
      .usual_activation_key = deployment::QuantKey::none,
      .batched_rewrites = kRewrites,
      .survives_key_filter = "EMULATION",
      .filter_falls_back = engine >= deployment::kVllm2026_11,
  };
}

}  // namespace

OracleSource mxfp4_source() { return kSource; }

const OracleTables& mxfp4_tables(deployment::Engine engine) {
  static const auto all = tables_of_all(kSource, rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
