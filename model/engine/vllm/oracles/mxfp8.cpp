// The mxfp8 oracle as data: three of the fp8 oracle's backends. It reads no environment variable, the class checks aside, and rewrites nothing for
// BatchedExperts, so these never find a class. Source: vllm 7e1b45a09 (2026-05-22) fused_moe/oracle/mxfp8.py select_mxfp8_moe_backend.

#include <array>

#include "model/engine/vllm/tables.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 2> kTrtllmClasses = {"TrtLlmFp8ExpertsMonolithic", "TrtLlmFp8ExpertsModular"};
constexpr std::array<Names, 1> kMarlinClasses = {"MarlinExperts"};
// The first refuses the keys, so XPU always ends in the second.
constexpr std::array<Names, 2> kXpuClasses = {"XPUExpertsFp8", "XPUExpertsMxfp8"};

constexpr std::array kBackends = {
    BackendRow{.name = "FLASHINFER_TRTLLM", .classes = kTrtllmClasses, .own_key = QuantKey::mxfp8_dynamic},
    BackendRow{.name = "MARLIN", .classes = kMarlinClasses, .own_key = QuantKey::mxfp8_dynamic},
    BackendRow{.name = "XPU", .classes = kXpuClasses, .own_key = QuantKey::mxfp8_dynamic},
};

constexpr std::array<Names, 1> kTrtllm = {"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 1> kMarlin = {"MARLIN"};
constexpr std::array<Names, 1> kXpu = {"XPU"};
constexpr std::array kUserNames = {
    UserNameRow{"flashinfer_trtllm", kTrtllm},
    UserNameRow{"marlin", kMarlin},
    UserNameRow{"xpu", kXpu},
};

constexpr std::array<Names, 3> kPriority = {"FLASHINFER_TRTLLM", "MARLIN", "XPU"};

constexpr std::array kSteps = {
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::walk},
    // The other oracles raise NotImplementedError here.
    Step{.kind = StepKind::raise, .error_type = "ValueError", .why = "no backend supports this deployment"},
};

}  // namespace

const OracleTables& mxfp8_tables() {
  static const OracleTables tables = {
      .engine = kVllm2026_05,
      .name = "mxfp8",
      .weight_key = QuantKey::mxfp8_static,
      .keys = KeyPolicy::own,
      .usual_weight_key = QuantKey::mxfp8_static,
      .usual_activation_key = QuantKey::none,
      .classes = kernel_classes(),
      .backends = kBackends,
      .user_names = kUserNames,
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
