// The oracle of layers without quantization as data. Source: vllm 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/unquantized.py
// select_unquantized_moe_backend.

#include <array>

#include "model/engine/vllm/oracles/shared.hpp"

namespace mx::engine {
namespace {

constexpr std::array<Names, 2> kTrtllmClasses = {"TrtLlmBf16ExpertsMonolithic", "TrtLlmBf16ExpertsModular"};
constexpr std::array<Names, 1> kFlashinferClasses = {"FlashInferExperts"};
constexpr std::array<Names, 1> kAiterClasses = {"AiterExperts"};
constexpr std::array<Names, 1> kAiterUnquantizedClasses = {"AiterUnquantizedExperts"};
constexpr std::array<Names, 1> kTritonClasses = {"TritonExperts"};
constexpr std::array<Names, 1> kBatchedTritonClasses = {"BatchedTritonExperts"};
constexpr std::array<Names, 4> kCpuClasses = {"X86CPUUnquantizedExperts", "ArmCPUUnquantizedExperts", "PowerCPUUnquantizedExperts",
                                              "CPUUnquantizedExperts"};
constexpr std::array<Names, 1> kXpuClasses = {"XPUExperts"};
constexpr std::array<Names, 1> kMoonepClasses = {"MoonEPExperts"};

constexpr std::array kBackends = {
    BackendRow{.name = "FLASHINFER_TRTLLM", .classes = kTrtllmClasses, .lora_class = "TrtLlmBf16LoRAExperts"},
    BackendRow{.name = "FLASHINFER_CUTLASS", .classes = kFlashinferClasses},
    BackendRow{.name = "AITER", .classes = kAiterClasses, .versions = kUntilNovember},
    BackendRow{.name = "AITER", .classes = kAiterUnquantizedClasses, .versions = kSinceNovember},
    BackendRow{.name = "TRITON", .classes = kTritonClasses},
    BackendRow{.name = "BATCHED_TRITON", .classes = kBatchedTritonClasses},
    BackendRow{.name = "CPU", .classes = kCpuClasses},
    BackendRow{.name = "XPU", .classes = kXpuClasses},
    BackendRow{.name = "MOONEP", .classes = kMoonepClasses, .versions = kSinceNovember},
};

constexpr std::array<Names, 1> kTrtllm = {"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 1> kFlashinferCutlass = {"FLASHINFER_CUTLASS"};
constexpr std::array<Names, 1> kAiter = {"AITER"};
constexpr std::array<Names, 1> kTriton = {"TRITON"};
constexpr std::array<Names, 1> kBatchedTriton = {"BATCHED_TRITON"};
constexpr std::array<Names, 1> kMoonep = {"MOONEP"};
constexpr std::array kUserNames = {
    UserNameRow{"flashinfer_trtllm", kTrtllm},
    UserNameRow{"flashinfer_cutlass", kFlashinferCutlass},
    UserNameRow{"aiter", kAiter},
    UserNameRow{"triton", kTriton},
    UserNameRow{"batched_triton", kBatchedTriton},
};
constexpr std::array kRewrites = {RewriteRow{"TRITON", "BATCHED_TRITON"}};
// These are wishes for layers that are quantized.
constexpr std::array<Names, 1> kHummingAlone = {"humming"};
constexpr std::array<Names, 2> kHummingOrMarlin = {"humming", "marlin"};

// Of cuda; the others' are steps.
constexpr std::array kPriority = {
    PriorityRow{"FLASHINFER_TRTLLM"},
    PriorityRow{"FLASHINFER_CUTLASS"},
    PriorityRow{"TRITON"},
    PriorityRow{"BATCHED_TRITON"},
};
constexpr FrontRow to_back(std::string_view backend, FrontRow row) {
  row.platform = deployment::PlatformKind::cuda;
  row.backend = backend;
  row.move = Move::back;
  return row;
}
constexpr std::array kMoves = {
    to_back("FLASHINFER_TRTLLM", {.platform = {}, .backend = {}, .capability = deployment::cap_family(90)}),
    to_back("FLASHINFER_CUTLASS", {.platform = {}, .backend = {}, .capability = deployment::cap_family(90)}),
    to_back("FLASHINFER_CUTLASS", {.platform = {}, .backend = {}, .data_parallel = true}),
    to_back("FLASHINFER_TRTLLM", {.platform = {}, .backend = {}, .activation = deployment::Activation::swigluoai}),
    to_back("FLASHINFER_CUTLASS", {.platform = {}, .backend = {}, .activation = deployment::Activation::swigluoai}),
};
constexpr std::array<Names, 3> kOnRocm = {"AITER", "TRITON", "BATCHED_TRITON"};
constexpr std::array<Names, 1> kXpu = {"XPU"};
constexpr std::array<Names, 2> kXpuOrTriton = {"XPU", "TRITON"};
constexpr std::array<Names, 1> kCpu = {"CPU"};
constexpr deployment::Where kOnXpu{.platforms = deployment::bit(deployment::PlatformKind::xpu)};
constexpr deployment::Where kOnCpu{.platforms = deployment::bit(deployment::PlatformKind::cpu)};
constexpr std::array<Names, 2> kRdna4 = {"gfx1200", "gfx1201"};
constexpr std::array kUseAiter = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};
constexpr std::array kUseAiterAtAll = {EnvVariable::rocm_use_aiter};

constexpr std::array kSteps = {
    // LoRA: whatever moe_backend says, and Triton on every platform without a question.
    Step{.kind = StepKind::try_class,
         .when = {.lora = true, .intermediate_multiple = 128},
         .backends = kTrtllm,
         .kernel_class = "TrtLlmBf16LoRAExperts"},
    Step{.kind = StepKind::choose, .when = {.lora = true}, .backends = kTriton, .kernel_class = "TritonExperts"},
    Step{.kind = StepKind::candidates, .when = {.where = deployment::on_rocm()}, .backends = kOnRocm},
    Step{.kind = StepKind::candidates, .when = {.where = kOnXpu}, .backends = kXpu, .versions = kUntilNovember},
    Step{.kind = StepKind::candidates, .when = {.where = kOnXpu}, .backends = kXpuOrTriton, .versions = kSinceNovember},
    Step{.kind = StepKind::candidates, .when = {.where = kOnCpu}, .backends = kCpu},
    Step{.kind = StepKind::force, .when = {.moonep = true}, .backends = kMoonep, .versions = kSinceNovember},
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::rewrite, .when = {.named = true}},
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::remove,
         .when = {.variables = kUseAiter, .switches = Switch::off},
         .backends = kAiter,
         .why = "VLLM_ROCM_USE_AITER or VLLM_ROCM_USE_AITER_MOE is off"},
    Step{.kind = StepKind::remove,
         .when = {.where = deployment::on_rocm(kRdna4), .variables = kUseAiterAtAll, .probe = &deployment::Software::aiter_found},
         .backends = kAiter,
         .why = "AITER on RDNA has no fused MoE"},
    // On every platform, as for FP8.
    Step{.kind = StepKind::force, .when = {.variables = kUseAiter, .not_removed = "AITER"}, .backends = kAiter, .versions = kUntilNovember},
    Step{.kind = StepKind::try_one, .when = {.variables = kUseAiter, .not_removed = "AITER"}, .backends = kAiter, .versions = kSinceNovember},
    Step{.kind = StepKind::walk},
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

OracleTables rest(deployment::Engine engine) {
  return {
      .name = "unquantized",
      .weight_key = deployment::QuantKey::none,
      .keys = KeyPolicy::own,
      .support_keys = KeyPolicy::own,
      .usual_weight_key = deployment::QuantKey::none,
      .usual_activation_key = deployment::QuantKey::none,
      .batched_rewrites = kRewrites,
      .counts_as_auto = engine < deployment::kVllm2026_11 ? std::span<const std::string_view>(kHummingAlone) : kHummingOrMarlin,
      .batched_wish = "batched_triton",
  };
}

}  // namespace

const OracleTables& unquantized_tables(deployment::Engine engine) {
  static const auto all = tables_of_all({kBackends, kUserNames, kPriority, kMoves, kSteps, Rounded::plain}, rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
