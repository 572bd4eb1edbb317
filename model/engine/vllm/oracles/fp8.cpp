// The fp8 oracle as data. Source: vllm 7e1b45a09, 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/fp8.py Fp8MoeBackend, backend_to_kernel_cls,
// map_fp8_backend, _get_priority_backends, select_fp8_moe_backend.

#include <array>

#include "model/engine/vllm/oracles/shared.hpp"
#include "model/engine/vllm/setup/flashinfer_variant.hpp"

namespace mx::engine {
namespace {

constexpr std::array<Names, 2> kTrtllmClasses = {"TrtLlmFp8ExpertsMonolithic", "TrtLlmFp8ExpertsModular"};
constexpr std::array<Names, 1> kFlashinferClasses = {"FlashInferExperts"};
constexpr std::array<Names, 1> kDeepGemmClasses = {"TritonOrDeepGemmExperts"};
constexpr std::array<Names, 1> kBatchedDeepGemmClasses = {"BatchedDeepGemmExperts"};
constexpr std::array<Names, 1> kMarlinClasses = {"MarlinExperts"};
constexpr std::array<Names, 1> kTritonClasses = {"TritonExperts"};
constexpr std::array<Names, 1> kBatchedTritonClasses = {"BatchedTritonExperts"};
constexpr std::array<Names, 1> kAiterClasses = {"AiterExperts"};
constexpr std::array<Names, 1> kCutlassClasses = {"TritonOrCutlassExperts"};
constexpr std::array<Names, 1> kBatchedCutlassClasses = {"CutlassBatchedExpertsFp8"};
constexpr std::array<Names, 2> kXpuClassesMay = {"XPUExpertsFp8", "XPUExpertsMxfp8"};
constexpr std::array<Names, 3> kXpuClasses = {"XPUExpertsFp8", "XPUExpertsMxFp8", "XPUExpertsBlockFp8"};
constexpr std::array<Names, 3> kAiterSchemeClasses = {"AiterFp8BlockExperts", "AiterFp8TensorExperts", "AiterFp8ChannelExperts"};
constexpr std::array<Names, 1> kHpcClasses = {"HPCExperts"};
constexpr std::array<Names, 1> kCpuW8a8Classes = {"CPUExpertsFp8W8A8"};
constexpr std::array<Names, 1> kCpuClasses = {"CPUExpertsFp8"};

constexpr std::array kBackends = {
    BackendRow{.name = "FLASHINFER_TRTLLM", .classes = kTrtllmClasses},
    BackendRow{.name = "FLASHINFER_CUTLASS", .classes = kFlashinferClasses},
    BackendRow{.name = "DEEPGEMM", .classes = kDeepGemmClasses},
    BackendRow{.name = "BATCHED_DEEPGEMM", .classes = kBatchedDeepGemmClasses},
    BackendRow{.name = "MARLIN", .classes = kMarlinClasses},
    BackendRow{.name = "TRITON", .classes = kTritonClasses},
    BackendRow{.name = "BATCHED_TRITON", .classes = kBatchedTritonClasses},
    BackendRow{.name = "AITER", .classes = kAiterClasses, .versions = kUntilNovember},
    BackendRow{.name = "AITER", .classes = kAiterSchemeClasses, .versions = kSinceNovember},
    BackendRow{.name = "VLLM_CUTLASS", .classes = kCutlassClasses},
    BackendRow{.name = "BATCHED_VLLM_CUTLASS", .classes = kBatchedCutlassClasses},
    BackendRow{.name = "XPU", .classes = kXpuClassesMay, .versions = kMay},
    BackendRow{.name = "XPU", .classes = kXpuClasses, .versions = kSinceAugust},
    BackendRow{.name = "HUMMING", .classes = kHummingClasses, .versions = kSinceAugust},
    BackendRow{.name = "HPC", .classes = kHpcClasses, .versions = kSinceAugust},
    BackendRow{.name = "CPU_W8A8", .classes = kCpuW8a8Classes, .versions = kSinceNovember},
    BackendRow{.name = "CPU", .classes = kCpuClasses},
    BackendRow{.name = "NONE", .classes = {}},
};

constexpr std::array<Names, 1> kTrtllm = {"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 1> kFlashinferCutlass = {"FLASHINFER_CUTLASS"};
constexpr std::array<Names, 2> kFlashinfer = {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS"};
constexpr std::array<Names, 1> kDeepGemm = {"DEEPGEMM"};
constexpr std::array<Names, 1> kBatchedDeepGemm = {"BATCHED_DEEPGEMM"};
constexpr std::array<Names, 2> kDeepGemms = {"DEEPGEMM", "BATCHED_DEEPGEMM"};
constexpr std::array<Names, 1> kMarlin = {"MARLIN"};
constexpr std::array<Names, 1> kTriton = {"TRITON"};
constexpr std::array<Names, 1> kAiter = {"AITER"};
constexpr std::array<Names, 1> kHpc = {"HPC"};
constexpr std::array<Names, 1> kCutlass = {"VLLM_CUTLASS"};
constexpr std::array<Names, 2> kCutlasses = {"VLLM_CUTLASS", "BATCHED_VLLM_CUTLASS"};

// xpu and cpu are not among them, unlike in the mxfp4 oracle.
constexpr std::array kUserNames = {
    UserNameRow{"triton", kTriton},
    UserNameRow{"deep_gemm", kDeepGemm},
    UserNameRow{"cutlass", kCutlass},
    UserNameRow{"flashinfer_trtllm", kTrtllm},
    UserNameRow{"flashinfer_cutlass", kFlashinferCutlass},
    UserNameRow{"marlin", kMarlin},
    UserNameRow{"aiter", kAiter},
    UserNameRow{"humming", kHummingBackend, kSinceAugust},
    UserNameRow{"hpc", kHpc, kSinceAugust},
};

constexpr std::array kPriority = {
    PriorityRow{"AITER"},
    PriorityRow{"FLASHINFER_TRTLLM"},
    PriorityRow{"FLASHINFER_CUTLASS"},
    PriorityRow{"DEEPGEMM"},
    PriorityRow{"VLLM_CUTLASS"},
    PriorityRow{"TRITON"},
    PriorityRow{"MARLIN"},
    PriorityRow{"HUMMING", kSinceAugust},
    PriorityRow{"BATCHED_DEEPGEMM"},
    PriorityRow{"BATCHED_VLLM_CUTLASS"},
    PriorityRow{"BATCHED_TRITON"},
    PriorityRow{"XPU"},
    PriorityRow{"CPU_W8A8", kSinceNovember},
    PriorityRow{"CPU"},
    PriorityRow{"HPC", kSinceAugust},
};
constexpr std::array kMoves = {
    FrontRow{.platform = deployment::PlatformKind::cuda,
             .backend = "FLASHINFER_TRTLLM",
             .capability = deployment::cap_family(100),
             .weight_key = deployment::QuantKey::fp8_static_128_block,
             .activation_key = deployment::QuantKey::fp8_dynamic_128,
             .versions = kSinceAugust,
             .deepep_v2 = true},
    FrontRow{deployment::PlatformKind::cuda, "FLASHINFER_CUTLASS", deployment::cap_exactly(90), deployment::QuantKey::fp8_static_128_block,
             deployment::QuantKey::fp8_dynamic_128, true},
    FrontRow{deployment::PlatformKind::cuda, "TRITON", deployment::cap_exactly(90), deployment::QuantKey::fp8_static_128_block,
             deployment::QuantKey::fp8_dynamic_128, false},
    FrontRow{.platform = deployment::PlatformKind::xpu, .backend = "XPU"},
    FrontRow{.platform = deployment::PlatformKind::cpu, .backend = "CPU"},
    FrontRow{.platform = deployment::PlatformKind::cpu, .backend = "CPU_W8A8", .versions = kSinceNovember},
    humming_before("MARLIN"),
};

constexpr std::array kRewrites = {
    RewriteRow{"DEEPGEMM", "BATCHED_DEEPGEMM"},
    RewriteRow{"TRITON", "BATCHED_TRITON"},
    RewriteRow{"VLLM_CUTLASS", "BATCHED_VLLM_CUTLASS"},
};

constexpr std::array kFlashinferFp8 = {EnvVariable::flashinfer_fp8};
constexpr std::array kUseDeepGemm = {EnvVariable::use_deep_gemm, EnvVariable::moe_use_deep_gemm};
constexpr std::array kForceMarlin = {EnvVariable::test_force_fp8_marlin};
constexpr std::array kUseAiter = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};

constexpr deployment::Where kOnCudaOrRocm{
    deployment::set_of(deployment::PlatformKind::cuda, deployment::PlatformKind::rocm), deployment::kAnyCapability, {}};

constexpr std::array kUseAiterAtAll = {EnvVariable::rocm_use_aiter};
constexpr std::array<Names, 2> kRdna4 = {"gfx1200", "gfx1201"};
// Whatever the platform is. Source: vllm 4ba787ec9 utils/deep_gemm.py should_auto_disable_deep_gemm.
constexpr std::array<Names, 2> kQwen = {"qwen3_5_text", "qwen3_5_moe_text"};
constexpr std::array<Names, 3> kQwenOrKolibri = {"qwen3_5_text", "qwen3_5_moe_text", "kolibri1"};

constexpr std::array kSteps = {
    // By name.
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::rewrite, .when = {.named = true}},
    Step{
        .kind = StepKind::remove, .when = {.named = true, .allow_vllm_cutlass = false}, .backends = kCutlasses, .why = "allow_vllm_cutlass is false"},
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    // By variables.
    Step{.kind = StepKind::remove,
         .when = {.variables = kFlashinferFp8, .switches = Switch::off},
         .backends = kFlashinfer,
         .why = "VLLM_USE_FLASHINFER_MOE_FP8 is off",
         .versions = kMay},
    Step{.kind = StepKind::force,
         .when = {.variables = kFlashinferFp8, .variant_set = true, .variants = deployment::bit(FlashinferVariant::cutlass)},
         .backends = kFlashinferCutlass,
         .versions = kMay},
    Step{.kind = StepKind::force,
         .when = {.variables = kFlashinferFp8, .variant_set = true, .variants = deployment::bit(FlashinferVariant::tensorrt_llm)},
         .backends = kTrtllm,
         .versions = kMay},
    Step{.kind = StepKind::raise,
         .when = {.variables = kFlashinferFp8, .variant_set = true, .variants = deployment::bit(FlashinferVariant::cutedsl)},
         .error_type = "ValueError",
         .why = "VLLM_FLASHINFER_MOE_BACKEND asks for CuteDSL, which has no FP8",
         .versions = kMay},
    Step{.kind = StepKind::walk, .when = {.variables = kFlashinferFp8}, .backends = kFlashinfer, .versions = kMay},
    Step{.kind = StepKind::raise,
         .when = {.variables = kFlashinferFp8},
         .error_type = "NotImplementedError",
         .why = "VLLM_USE_FLASHINFER_MOE_FP8 is on, and no FlashInfer backend supports this deployment",
         .versions = kMay},
    Step{.kind = StepKind::remove,
         .when = {.variables = kUseDeepGemm, .switches = Switch::off},
         .backends = kDeepGemms,
         .why = "VLLM_USE_DEEP_GEMM or VLLM_MOE_USE_DEEP_GEMM is off"},
    Step{.kind = StepKind::remove,
         .when = {.where = {.capability = deployment::cap_family(100)}, .models = kQwen, .unset = kUseDeepGemm},
         .backends = kDeepGemms,
         .why = "DeepGEMM is off for this model",
         .versions = kSinceNovember},
    Step{.kind = StepKind::remove,
         .when = {.where = {.capability = deployment::cap_family(120)}, .models = kQwenOrKolibri, .unset = kUseDeepGemm},
         .backends = kDeepGemms,
         .why = "DeepGEMM is off for this model",
         .versions = kSinceNovember},
    // Both are on by default, but setting one of them to that very value forces DeepGEMM.
    Step{.kind = StepKind::force, .when = {.format = ActivationFormat::standard, .variables = kUseDeepGemm}, .backends = kDeepGemm},
    Step{.kind = StepKind::force, .when = {.variables = kUseDeepGemm}, .backends = kBatchedDeepGemm},
    Step{.kind = StepKind::force, .when = {.variables = kForceMarlin}, .backends = kMarlin, .versions = kMay},
    // Setting the MOE variable alone leaves the other at its default, which is off: AITER is removed even when the text says on.
    Step{.kind = StepKind::remove,
         .when = {.variables = kUseAiter, .switches = Switch::off},
         .backends = kAiter,
         .why = "VLLM_ROCM_USE_AITER or VLLM_ROCM_USE_AITER_MOE is off"},
    // On every platform: on cuda VLLM_ROCM_USE_AITER=1 makes selection fail.
    Step{.kind = StepKind::remove,
         .when = {.where = deployment::on_rocm(kRdna4), .variables = kUseAiterAtAll, .probe = &deployment::Software::aiter_found},
         .backends = kAiter,
         .why = "AITER on RDNA has no fused MoE",
         .versions = kSinceAugust},
    Step{.kind = StepKind::force, .when = {.variables = kUseAiter, .not_removed = "AITER"}, .backends = kAiter},
    Step{.kind = StepKind::remove, .when = {.allow_vllm_cutlass = false}, .backends = kCutlasses, .why = "allow_vllm_cutlass is false"},
    Step{.kind = StepKind::walk},
    Step{
        .kind = StepKind::raise, .when = {.where = kOnCudaOrRocm}, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
    Step{.kind = StepKind::choose_none},
};

OracleTables rest(deployment::Engine) {
  return {
      .name = "fp8",
      .keys = KeyPolicy::callers,
      .support_keys = KeyPolicy::callers,
      .usual_weight_key = deployment::QuantKey::fp8_static_128_block,
      .usual_activation_key = deployment::QuantKey::fp8_dynamic_128,
      .batched_rewrites = kRewrites,
  };
}

}  // namespace

const OracleTables& fp8_tables(deployment::Engine engine) {
  static const auto all = tables_of_all({kBackends, kUserNames, kPriority, kMoves, kSteps, Rounded::nothing}, rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
