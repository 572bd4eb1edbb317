// The w4a8 oracle as data. Until 2026-11: one backend with one class; moe_backend and every override variable are ignored.
// Source: vllm 4438b6e7d (2026-05-23, pull request 42680), 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/w4a8.py select_w4a8_moe_backend. The earlier
// proposal, pull request 39197, was not merged; there both keys default to None, the class takes any keys and any dtype, and refuses batched
// activations among its parallel configurations instead of by its format.

#include <array>

#include "model/engine/vllm/oracles/shared.hpp"

namespace mx::engine {
namespace {

constexpr std::array<Names, 1> kClasses = {"CutlassExpertsW4A8Fp8"};
constexpr std::array kBackends = {
    BackendRow{.name = "CUTLASS", .classes = kClasses},
    BackendRow{.name = "HUMMING", .classes = kHummingClasses, .versions = kSinceNovember},
};
constexpr std::array<Names, 1> kCutlass = {"CUTLASS"};
constexpr std::array kUserNames = {
    UserNameRow{"cutlass", kCutlass, kSinceNovember},
    UserNameRow{"humming", kHummingBackend, kSinceNovember},
};
constexpr std::array kPriority = {PriorityRow{"CUTLASS"}, PriorityRow{"HUMMING", kSinceNovember}};

constexpr std::array kSteps = {
    Step{.kind = StepKind::map_name, .versions = kSinceNovember},
    // In 2026-05 refused keys raise KeyError while the usual weight key is one of them: it has no text form for the message. It escapes.
    Step{.kind = StepKind::walk},
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

OracleTables rest(deployment::Engine) {
  return {
      .name = "w4a8",
      .keys = KeyPolicy::callers,
      .support_keys = KeyPolicy::callers,
      .usual_weight_key = deployment::QuantKey::int4_static,
      .usual_activation_key = deployment::QuantKey::fp8_dynamic_token,
  };
}

}  // namespace

const OracleTables& w4a8_tables(deployment::Engine engine) {
  static const auto all = tables_of_all({kBackends, kUserNames, kPriority, {}, kSteps, Rounded::nothing}, rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
