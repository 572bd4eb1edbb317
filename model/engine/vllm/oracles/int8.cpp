// The oracle of 8 bit integers as data. Source: vllm 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/int8.py select_int8_moe_backend.

#include <array>

#include "model/engine/vllm/oracles/shared.hpp"

namespace mx::engine {
namespace {

constexpr std::array<Names, 1> kTritonClasses = {"TritonExperts"};
constexpr std::array<Names, 2> kTwoCpuClasses = {"ArmCPUExpertsInt8", "CPUExpertsInt8"};
constexpr std::array<Names, 4> kFourCpuClasses = {"ZenCPUExpertsInt8", "PowerCPUExpertsInt8", "ArmCPUExpertsInt8", "CPUExpertsInt8"};

constexpr std::array kBackends = {
    BackendRow{.name = "TRITON", .classes = kTritonClasses},
    BackendRow{.name = "HUMMING", .classes = kHummingClasses},
    BackendRow{.name = "CPU", .classes = kTwoCpuClasses, .versions = kUntilNovember},
    BackendRow{.name = "CPU", .classes = kFourCpuClasses, .versions = kSinceNovember},
};
constexpr std::array<Names, 1> kTriton = {"TRITON"};
constexpr std::array kUserNames = {UserNameRow{"triton", kTriton}, UserNameRow{"humming", kHummingBackend}};
constexpr std::array kPriority = {PriorityRow{"TRITON"}, PriorityRow{"HUMMING"}, PriorityRow{"CPU"}};

constexpr std::array kSteps = {
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::walk},
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

OracleTables rest(deployment::Engine) {
  return {
      .name = "int8",
      .keys = KeyPolicy::callers,
      .support_keys = KeyPolicy::callers,
      .usual_weight_key = deployment::QuantKey::int8_static_channel,
      .usual_activation_key = deployment::QuantKey::int8_dynamic_token,
  };
}

}  // namespace

const OracleTables& int8_tables(deployment::Engine engine) {
  static const auto all = tables_of_all({kBackends, kUserNames, kPriority, {}, kSteps, Rounded::nothing}, rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
