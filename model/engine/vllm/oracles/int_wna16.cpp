// The oracle of weights in 4 and 8 bit integers as data. Source: vllm 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/int_wna16.py select_wna16_moe_backend.

#include <array>

#include "model/engine/vllm/oracles/shared.hpp"

namespace mx::engine {
namespace {

using enum CallRule;

constexpr std::array<Names, 1> kTrtllmClasses = {"TrtLlmMxint4ExpertsMonolithic"};
constexpr std::array<Names, 1> kMarlinClasses = {"MarlinExperts"};
constexpr std::array<Names, 1> kBatchedMarlinClasses = {"BatchedMarlinExperts"};
constexpr std::array<Names, 1> kTritonClasses = {"TritonWNA16Experts"};
constexpr std::array<Names, 1> kEmulationClasses = {"Int4EmulationTritonExperts"};
constexpr std::array<Names, 1> kCpuClasses = {"CPUExpertsInt4"};
constexpr std::array<Names, 1> kXpuClasses = {"XPUExpertsWNA16"};
constexpr std::array<Names, 1> kRdna3Classes = {"Rdna3WNA16Experts"};
constexpr std::array<Names, 1> kZenClasses = {"ZentorchExpertsInt4"};

constexpr std::array kTrtllmRules = {no_zero_point_or_bias};
constexpr std::array kTritonRules = {no_call_bias, not_awq, no_desc_act, no_group_actorder};
constexpr std::array kMarlinRules = {not_moe_wna16, marlin_shape};
constexpr std::array kEmulationRules = {not_moe_wna16};
constexpr std::array kRdna3Rules = {compressed_tensors_alone, no_zero_point, no_call_bias, no_group_actorder, group_strategy};
constexpr std::array kZenRules = {w4a8_on, no_zero_point, not_moe_wna16, no_desc_act, no_group_actorder, group_in_4};

constexpr std::array kBackends = {
    BackendRow{.name = "FLASHINFER_TRTLLM", .classes = kTrtllmClasses, .rules = kTrtllmRules},
    BackendRow{.name = "MARLIN", .classes = kMarlinClasses, .rules = kMarlinRules},
    BackendRow{.name = "BATCHED_MARLIN", .classes = kBatchedMarlinClasses, .rules = kMarlinRules},
    BackendRow{.name = "TRITON", .classes = kTritonClasses, .rules = kTritonRules},
    BackendRow{.name = "HUMMING", .classes = kHummingClasses},
    BackendRow{.name = "EMULATION", .classes = kEmulationClasses, .rules = kEmulationRules},
    BackendRow{.name = "CPU", .classes = kCpuClasses},
    BackendRow{.name = "XPU", .classes = kXpuClasses},
    BackendRow{.name = "RDNA3", .classes = kRdna3Classes, .versions = kSinceNovember, .rules = kRdna3Rules},
    BackendRow{.name = "ZEN_CPU", .classes = kZenClasses, .versions = kSinceNovember, .rules = kZenRules},
};

constexpr std::array<Names, 1> kTrtllm = {"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 1> kMarlin = {"MARLIN"};
constexpr std::array<Names, 1> kTriton = {"TRITON"};
constexpr std::array<Names, 1> kEmulation = {"EMULATION"};
constexpr std::array<Names, 1> kRdna3 = {"RDNA3"};
constexpr std::array kUserNames = {
    UserNameRow{"flashinfer_trtllm", kTrtllm}, UserNameRow{"marlin", kMarlin},       UserNameRow{"triton", kTriton},
    UserNameRow{"humming", kHummingBackend},   UserNameRow{"emulation", kEmulation}, UserNameRow{"rdna3", kRdna3, kSinceNovember},
};

// Of cuda and rocm; the others' are steps.
constexpr std::array kPriority = {
    PriorityRow{"RDNA3", kSinceNovember},
    PriorityRow{"FLASHINFER_TRTLLM"},
    PriorityRow{"MARLIN"},
    PriorityRow{"BATCHED_MARLIN"},
    PriorityRow{"TRITON"},
    PriorityRow{"HUMMING"},
    PriorityRow{"EMULATION"},
};
constexpr std::array kMoves = {humming_before("MARLIN")};
constexpr std::array<Names, 1> kXpu = {"XPU"};
constexpr std::array<Names, 1> kCpu = {"CPU"};
constexpr std::array<Names, 2> kZenOrCpu = {"ZEN_CPU", "CPU"};
constexpr deployment::Where kOnXpu{.platforms = deployment::bit(deployment::PlatformKind::xpu)};
constexpr deployment::Where kOnCpu{.platforms = deployment::bit(deployment::PlatformKind::cpu)};

constexpr std::array kSteps = {
    Step{.kind = StepKind::candidates, .when = {.where = kOnXpu}, .backends = kXpu},
    Step{.kind = StepKind::candidates, .when = {.where = kOnCpu}, .backends = kCpu, .versions = kUntilNovember},
    Step{.kind = StepKind::candidates, .when = {.where = kOnCpu}, .backends = kZenOrCpu, .versions = kSinceNovember},
    // No rewrite for BatchedExperts: marlin refuses them.
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::walk},
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

OracleTables rest(deployment::Engine) {
  return {
      .name = "int_wna16",
      .keys = KeyPolicy::own,
      .support_keys = KeyPolicy::own,
      .usual_weight_key = deployment::QuantKey::int4_static,
      .usual_activation_key = deployment::QuantKey::none,
      .asks_backends = true,
  };
}

}  // namespace

const OracleTables& int_wna16_tables(deployment::Engine engine) {
  static const auto all = tables_of_all({kBackends, kUserNames, kPriority, kMoves, kSteps, Rounded::nothing}, rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
