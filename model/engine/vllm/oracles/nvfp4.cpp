// The nvfp4 oracle as data. Source: vllm 7e1b45a09, 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/nvfp4.py NvFp4MoeBackend, backend_to_kernel_cls,
// map_nvfp4_backend, select_nvfp4_moe_backend, is_global_sf_supported_for_nvfp4_backend.

#include <array>

#include "model/engine/vllm/oracles/shared.hpp"
#include "model/engine/vllm/setup/flashinfer_variant.hpp"

namespace mx::engine {
namespace {

constexpr std::array<Names, 2> kTrtllmClasses = {"TrtLlmNvFp4ExpertsMonolithic", "TrtLlmNvFp4ExpertsModular"};
constexpr std::array<Names, 1> kFlashinferClasses = {"FlashInferExperts"};
constexpr std::array<Names, 1> kCuteDslClasses = {"FlashInferCuteDSLExperts"};
constexpr std::array<Names, 1> kCuteDslBatchedClasses = {"FlashInferCuteDSLBatchedExperts"};
constexpr std::array<Names, 1> kFlashinferB12xClasses = {"FlashInferB12xExperts"};
constexpr std::array<Names, 1> kB12xClasses = {"B12xExperts"};
constexpr std::array<Names, 1> kMoeEpClasses = {"FlashInferMoeEpExperts"};
constexpr std::array<Names, 1> kCutlassClasses = {"CutlassExpertsFp4"};
constexpr std::array<Names, 1> kMarlinClasses = {"MarlinExperts"};
constexpr std::array<Names, 1> kEmulationClasses = {"Nvfp4QuantizationEmulationTritonExperts"};

constexpr std::array kBackends = {
    BackendRow{.name = "FLASHINFER_TRTLLM", .classes = kTrtllmClasses, .global_sf_supported = true},
    BackendRow{.name = "FLASHINFER_CUTLASS", .classes = kFlashinferClasses, .global_sf_supported = true},
    BackendRow{.name = "FLASHINFER_CUTEDSL", .classes = kCuteDslClasses, .global_sf_supported = true},
    BackendRow{.name = "FLASHINFER_CUTEDSL_BATCHED", .classes = kCuteDslBatchedClasses, .global_sf_supported = true},
    BackendRow{.name = "FLASHINFER_B12X", .classes = kFlashinferB12xClasses, .global_sf_supported = true},
    BackendRow{.name = "VLLM_CUTLASS", .classes = kCutlassClasses},
    BackendRow{.name = "MARLIN", .classes = kMarlinClasses},
    BackendRow{.name = "EMULATION", .classes = kEmulationClasses},
    BackendRow{.name = "B12X", .classes = kB12xClasses, .versions = kSinceAugust},
    BackendRow{.name = "HUMMING", .classes = kHummingClasses, .versions = kSinceAugust},
    BackendRow{.name = "FLASHINFER_MOE_EP_CUTEDSL", .classes = kMoeEpClasses, .versions = kSinceNovember},
};

constexpr std::array<Names, 1> kTrtllm = {"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 1> kFlashinferCutlass = {"FLASHINFER_CUTLASS"};
constexpr std::array<Names, 1> kCuteDsl = {"FLASHINFER_CUTEDSL"};
constexpr std::array<Names, 1> kFlashinferB12x = {"FLASHINFER_B12X"};
constexpr std::array<Names, 1> kB12x = {"B12X"};
constexpr std::array<Names, 1> kMoeEp = {"FLASHINFER_MOE_EP_CUTEDSL"};
// They have no clamp.
constexpr std::array<Names, 2> kWithoutLimit = {"FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_B12X"};
constexpr std::array<Names, 1> kCutlass = {"VLLM_CUTLASS"};
constexpr std::array<Names, 1> kMarlin = {"MARLIN"};
constexpr std::array<Names, 1> kEmulation = {"EMULATION"};

constexpr std::array kUserNames = {
    UserNameRow{"cutlass", kCutlass},
    UserNameRow{"flashinfer_trtllm", kTrtllm},
    UserNameRow{"flashinfer_cutlass", kFlashinferCutlass},
    UserNameRow{"flashinfer_cutedsl", kCuteDsl},
    UserNameRow{"flashinfer_b12x", kFlashinferB12x},
    UserNameRow{"marlin", kMarlin},
    UserNameRow{"emulation", kEmulation},
    UserNameRow{"b12x", kB12x, kSinceAugust},
    UserNameRow{"humming", kHummingBackend, kSinceAugust},
    UserNameRow{"flashinfer_moe_ep_cutedsl", kMoeEp, kSinceNovember},
};

// FLASHINFER_B12X is left out on purpose (a guard for SM121 is pending): it takes its name or VLLM_USE_FLASHINFER_MOE_FP4=1.
constexpr std::array kPriority = {
    PriorityRow{"FLASHINFER_TRTLLM"},     PriorityRow{"FLASHINFER_CUTEDSL"}, PriorityRow{"FLASHINFER_CUTEDSL_BATCHED"},
    PriorityRow{"FLASHINFER_CUTLASS"},    PriorityRow{"VLLM_CUTLASS"},       PriorityRow{"MARLIN"},
    PriorityRow{"HUMMING", kSinceAugust}, PriorityRow{"EMULATION"},
};
constexpr std::array kMoves = {humming_before("MARLIN")};
// Another order than the list above.
constexpr std::array<Names, 5> kFlashinfer = {
    "FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS", "FLASHINFER_CUTEDSL", "FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_B12X",
};

constexpr std::array kRewrites = {RewriteRow{"FLASHINFER_CUTEDSL", "FLASHINFER_CUTEDSL_BATCHED"}};

constexpr std::array kFp4 = {EnvVariable::flashinfer_fp4};
constexpr std::array kForceMarlin = {EnvVariable::test_force_fp8_marlin};
constexpr std::array kForceA16 = {EnvVariable::b12x_moe_fp4_force_a16};

constexpr std::array kSteps = {
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::rewrite, .when = {.named = true}},
    Step{.kind = StepKind::set_key, .when = {.variables = kForceA16, .wish = "b12x"}, .key = deployment::QuantKey::none, .versions = kSinceAugust},
    Step{.kind = StepKind::remove,
         .when = {.swiglu_limit = true},
         .backends = kWithoutLimit,
         .why = "the layer has a limit",
         .versions = kSinceAugust},
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    // The engine removes the five FlashInfer members from a list that lacks FLASHINFER_B12X, which raises whatever the deployment is.
    // Since vllm pull request 40082 (2026-05-20); 42209 (2026-05-22) mends it.
    Step{.kind = StepKind::raise,
         .when = {.variables = kFp4, .switches = Switch::off},
         .error_type = "ValueError",
         .why = "list.remove(x): x not in list",
         .versions = kMay},
    Step{.kind = StepKind::force,
         .when = {.variables = kFp4, .variant_set = true, .variants = deployment::bit(FlashinferVariant::cutlass)},
         .backends = kFlashinferCutlass,
         .versions = kMay},
    Step{.kind = StepKind::force,
         .when = {.variables = kFp4, .variant_set = true, .variants = deployment::bit(FlashinferVariant::tensorrt_llm)},
         .backends = kTrtllm,
         .versions = kMay},
    // Never the batched member, although masked GEMM is what that one does.
    Step{.kind = StepKind::force,
         .when = {.variables = kFp4, .variant_set = true, .variants = deployment::bit(FlashinferVariant::cutedsl)},
         .backends = kCuteDsl,
         .versions = kMay},
    Step{.kind = StepKind::walk, .when = {.variables = kFp4}, .backends = kFlashinfer, .versions = kMay},
    Step{.kind = StepKind::raise,
         .when = {.variables = kFp4},
         .error_type = "NotImplementedError",
         .why = "VLLM_USE_FLASHINFER_MOE_FP4 is on, and no FlashInfer backend supports this deployment",
         .versions = kMay},
    Step{.kind = StepKind::force, .when = {.variables = kForceMarlin}, .backends = kMarlin, .versions = kMay},
    Step{.kind = StepKind::walk},
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

OracleTables rest(deployment::Engine) {
  return {
      .name = "nvfp4",
      .keys = KeyPolicy::callers,
      .support_keys = KeyPolicy::callers,
      .usual_weight_key = deployment::QuantKey::nvfp4_static,
      .usual_activation_key = deployment::QuantKey::nvfp4_dynamic,
      .batched_rewrites = kRewrites,
  };
}

}  // namespace

const OracleTables& nvfp4_tables(deployment::Engine engine) {
  static const auto all = tables_of_all({kBackends, kUserNames, kPriority, kMoves, kSteps, Rounded::nothing}, rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
