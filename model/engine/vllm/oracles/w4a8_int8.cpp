// The oracle of 4 bit weights on 8 bit activations of a CPU as data. Source: vllm 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/w4a8_int8.py
// select_w4a8_int8_moe_backend.

#include <array>

#include "model/engine/vllm/oracles/shared.hpp"

namespace mx::engine {
namespace {

constexpr std::array<Names, 1> kClasses = {"CPUExpertsInt4"};
constexpr std::array kBackends = {BackendRow{.name = "CPU_INT4", .classes = kClasses}};
constexpr std::array<Names, 1> kCpu = {"CPU_INT4"};
constexpr std::array kUserNames = {UserNameRow{"cpu", kCpu}};
constexpr std::array kPriority = {PriorityRow{"CPU_INT4"}};
constexpr deployment::Where kElsewhere{
    .platforms = deployment::set_of(deployment::PlatformKind::cuda, deployment::PlatformKind::rocm, deployment::PlatformKind::xpu)};

constexpr std::array kSteps = {
    Step{.kind = StepKind::raise, .when = {.where = kElsewhere}, .error_type = "NotImplementedError", .why = "this oracle is for CPUs"},
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::walk},
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

OracleTables rest(deployment::Engine) {
  return {
      .name = "w4a8_int8",
      .keys = KeyPolicy::callers,
      .support_keys = KeyPolicy::callers,
      .usual_weight_key = deployment::QuantKey::int4_w4a8_group_128,
      .usual_activation_key = deployment::QuantKey::none,
      .classes = cpu_int4_classes(),
  };
}

}  // namespace

const OracleTables& w4a8_int8_tables(deployment::Engine engine) {
  static const auto all = tables_of_all({kBackends, kUserNames, kPriority, {}, kSteps, Rounded::nothing}, rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
