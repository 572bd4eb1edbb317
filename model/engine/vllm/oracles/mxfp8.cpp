// The mxfp8 oracle as data: some of the fp8 oracle's backends. It reads no environment variable, the class checks aside, and rewrites nothing for
// BatchedExperts, so these never find a class. Source: vllm 7e1b45a09, 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/mxfp8.py select_mxfp8_moe_backend.

#include <array>

#include "model/engine/vllm/oracles/shared.hpp"

namespace mx::engine {
namespace {

constexpr std::array<Names, 2> kTrtllmClasses = {"TrtLlmFp8ExpertsMonolithic", "TrtLlmFp8ExpertsModular"};
constexpr std::array<Names, 1> kDeepGemmClasses = {"DeepGemmExperts"};
constexpr std::array<Names, 1> kMarlinClasses = {"MarlinExperts"};
// The first refuses the keys, so XPU always ends in the second.
constexpr std::array<Names, 2> kXpuClassesMay = {"XPUExpertsFp8", "XPUExpertsMxfp8"};
constexpr std::array<Names, 3> kXpuClasses = {"XPUExpertsFp8", "XPUExpertsMxFp8", "XPUExpertsBlockFp8"};
constexpr std::array<Names, 1> kAiterClasses = {"AiterMxfp8Experts"};
constexpr std::array<Names, 1> kTritonClasses = {"Mxfp8NativeTritonExperts"};
constexpr std::array<Names, 1> kEmulationClasses = {"Mxfp8EmulationTritonExperts"};

constexpr BackendRow backend(std::string_view name, std::span<const Names> classes, deployment::Versions versions = kSinceAugust) {
  return {.name = name, .classes = classes, .own_key = deployment::QuantKey::mxfp8_dynamic, .versions = versions};
}
constexpr std::array kBackends = {
    backend("FLASHINFER_TRTLLM", kTrtllmClasses, kAlways),
    backend("DEEPGEMM", kDeepGemmClasses),
    backend("MARLIN", kMarlinClasses, kAlways),
    backend("XPU", kXpuClassesMay, kMay),
    backend("XPU", kXpuClasses),
    backend("AITER_MXFP8", kAiterClasses),
    backend("HUMMING", kHummingClasses),
    backend("TRITON_MXFP8", kTritonClasses),
    backend("EMULATION", kEmulationClasses),
};

constexpr std::array<Names, 1> kTrtllm = {"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 1> kDeepGemm = {"DEEPGEMM"};
constexpr std::array<Names, 1> kMarlin = {"MARLIN"};
constexpr std::array<Names, 1> kXpu = {"XPU"};
constexpr std::array<Names, 1> kAiter = {"AITER_MXFP8"};
constexpr std::array<Names, 1> kTriton = {"TRITON_MXFP8"};
// EMULATION has no name.
constexpr std::array kUserNames = {
    UserNameRow{"flashinfer_trtllm", kTrtllm},
    UserNameRow{"deep_gemm", kDeepGemm, kSinceAugust},
    UserNameRow{"marlin", kMarlin},
    UserNameRow{"xpu", kXpu},
    UserNameRow{"aiter", kAiter, kSinceAugust},
    UserNameRow{"triton", kTriton, kSinceAugust},
    UserNameRow{"humming", kHummingBackend, kSinceAugust},
};

constexpr std::array kPriority = {
    PriorityRow{"FLASHINFER_TRTLLM"},
    PriorityRow{"DEEPGEMM", kSinceAugust},
    PriorityRow{"MARLIN"},
    PriorityRow{"XPU"},
    PriorityRow{"AITER_MXFP8", kSinceAugust},
    PriorityRow{"HUMMING", kSinceAugust},
    PriorityRow{"TRITON_MXFP8", kSinceAugust},
    PriorityRow{"EMULATION", kSinceAugust},
};
constexpr std::array kMoves = {humming_before("MARLIN")};

constexpr std::array kSteps = {
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::walk},
    // The other oracles raise NotImplementedError here.
    Step{.kind = StepKind::raise, .error_type = "ValueError", .why = "no backend supports this deployment"},
};

OracleTables rest(deployment::Engine) {
  return {
      .name = "mxfp8",
      .weight_key = deployment::QuantKey::mxfp8_static,
      .keys = KeyPolicy::own,
      .support_keys = KeyPolicy::own,
      .usual_weight_key = deployment::QuantKey::mxfp8_static,
      .usual_activation_key = deployment::QuantKey::none,
  };
}

}  // namespace

const OracleTables& mxfp8_tables(deployment::Engine engine) {
  static const auto all = tables_of_all({kBackends, kUserNames, kPriority, kMoves, kSteps, Rounded::nothing}, rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
