// The w4a8 oracle as data: one backend with one class; moe_backend and every override variable are ignored.
// Source: vllm 4438b6e7d (2026-05-23, pull request 42680) fused_moe/oracle/w4a8.py select_w4a8_moe_backend. The earlier proposal, pull request 39197,
// was not merged; there both keys default to None, the class takes any keys and any dtype, and refuses batched activations among its parallel
// configurations instead of by its format.

#include <array>

#include "model/engine/vllm/tables.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 1> kClasses = {"CutlassExpertsW4A8Fp8"};
constexpr std::array kBackends = {BackendRow{.name = "CUTLASS", .classes = kClasses}};
constexpr std::array<Names, 1> kPriority = {"CUTLASS"};

constexpr std::array kSteps = {
    // Refused keys raise KeyError while the usual weight key is one of them: it has no text form for the message. It escapes.
    Step{.kind = StepKind::walk},
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

}  // namespace

const OracleTables& w4a8_tables() {
  static const OracleTables tables = {
      .engine = kVllm2026_05,
      .name = "w4a8",
      .weight_key = std::nullopt,
      .keys = KeyPolicy::callers,
      .usual_weight_key = QuantKey::int4_static,
      .usual_activation_key = QuantKey::fp8_dynamic_token,
      .classes = kernel_classes(),
      .backends = kBackends,
      .user_names = {},
      .priority = kPriority,
      .to_front = {},
      .batched_rewrites = {},
      .survives_key_filter = {},
      .steps = kSteps,
      .roundings = {},
  };
  return tables;
}

}  // namespace mx::oracle
