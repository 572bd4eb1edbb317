// The fp8 oracle as data. Source: vllm 7e1b45a09 (2026-05-22) fused_moe/oracle/fp8.py Fp8MoeBackend, backend_to_kernel_cls, map_fp8_backend,
// select_fp8_moe_backend; fp8_priority.cpp has _get_priority_backends.

#include <array>

#include "model/engine/vllm/setup/flashinfer_variant.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

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
constexpr std::array<Names, 2> kXpuClasses = {"XPUExpertsFp8", "XPUExpertsMxfp8"};
constexpr std::array<Names, 1> kCpuClasses = {"CPUExpertsFp8"};

constexpr std::array kBackends = {
    BackendRow{.name = "FLASHINFER_TRTLLM", .classes = kTrtllmClasses},
    BackendRow{.name = "FLASHINFER_CUTLASS", .classes = kFlashinferClasses},
    BackendRow{.name = "DEEPGEMM", .classes = kDeepGemmClasses},
    BackendRow{.name = "BATCHED_DEEPGEMM", .classes = kBatchedDeepGemmClasses},
    BackendRow{.name = "MARLIN", .classes = kMarlinClasses},
    BackendRow{.name = "TRITON", .classes = kTritonClasses},
    BackendRow{.name = "BATCHED_TRITON", .classes = kBatchedTritonClasses},
    BackendRow{.name = "AITER", .classes = kAiterClasses},
    BackendRow{.name = "VLLM_CUTLASS", .classes = kCutlassClasses},
    BackendRow{.name = "BATCHED_VLLM_CUTLASS", .classes = kBatchedCutlassClasses},
    BackendRow{.name = "XPU", .classes = kXpuClasses},
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

constexpr Where kOnCudaOrRocm{set_of(PlatformKind::cuda, PlatformKind::rocm), kAnyCapability, {}};

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
         .why = "VLLM_USE_FLASHINFER_MOE_FP8 is off"},
    Step{.kind = StepKind::force,
         .when = {.variables = kFlashinferFp8, .variant_set = true, .variants = bit(FlashinferVariant::cutlass)},
         .backends = kFlashinferCutlass},
    Step{.kind = StepKind::force,
         .when = {.variables = kFlashinferFp8, .variant_set = true, .variants = bit(FlashinferVariant::tensorrt_llm)},
         .backends = kTrtllm},
    Step{.kind = StepKind::raise,
         .when = {.variables = kFlashinferFp8, .variant_set = true, .variants = bit(FlashinferVariant::cutedsl)},
         .error_type = "ValueError",
         .why = "VLLM_FLASHINFER_MOE_BACKEND asks for CuteDSL, which has no FP8"},
    Step{.kind = StepKind::walk, .when = {.variables = kFlashinferFp8}, .backends = kFlashinfer},
    Step{.kind = StepKind::raise,
         .when = {.variables = kFlashinferFp8},
         .error_type = "NotImplementedError",
         .why = "VLLM_USE_FLASHINFER_MOE_FP8 is on, and no FlashInfer backend supports this deployment"},
    Step{.kind = StepKind::remove,
         .when = {.variables = kUseDeepGemm, .switches = Switch::off},
         .backends = kDeepGemms,
         .why = "VLLM_USE_DEEP_GEMM or VLLM_MOE_USE_DEEP_GEMM is off"},
    // Both are on by default, but setting one of them to that very value forces DeepGEMM.
    Step{.kind = StepKind::force, .when = {.format = ActivationFormat::standard, .variables = kUseDeepGemm}, .backends = kDeepGemm},
    Step{.kind = StepKind::force, .when = {.variables = kUseDeepGemm}, .backends = kBatchedDeepGemm},
    Step{.kind = StepKind::force, .when = {.variables = kForceMarlin}, .backends = kMarlin},
    // Setting the MOE variable alone leaves the other at its default, which is off: AITER is removed even when the text says on.
    Step{.kind = StepKind::remove,
         .when = {.variables = kUseAiter, .switches = Switch::off},
         .backends = kAiter,
         .why = "VLLM_ROCM_USE_AITER or VLLM_ROCM_USE_AITER_MOE is off"},
    // On every platform: on cuda VLLM_ROCM_USE_AITER=1 makes selection fail.
    Step{.kind = StepKind::force, .when = {.variables = kUseAiter}, .backends = kAiter},
    Step{.kind = StepKind::remove, .when = {.allow_vllm_cutlass = false}, .backends = kCutlasses, .why = "allow_vllm_cutlass is false"},
    Step{.kind = StepKind::walk},
    Step{
        .kind = StepKind::raise, .when = {.where = kOnCudaOrRocm}, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
    Step{.kind = StepKind::choose_none},
};

}  // namespace

const OracleTables& fp8_tables() {
  static const OracleTables tables = {
      .engine = kVllm2026_05,
      .name = "fp8",
      .weight_key = std::nullopt,
      .keys = KeyPolicy::callers,
      .usual_weight_key = QuantKey::fp8_static_128_block,
      .usual_activation_key = QuantKey::fp8_dynamic_128,
      .classes = kernel_classes(),
      .backends = kBackends,
      .user_names = kUserNames,
      .priority = fp8_priority_table().backends,
      .to_front = fp8_priority_table().to_front,
      .batched_rewrites = kRewrites,
      .survives_key_filter = {},
      .steps = kSteps,
      .roundings = {},
  };
  return tables;
}

}  // namespace mx::oracle
