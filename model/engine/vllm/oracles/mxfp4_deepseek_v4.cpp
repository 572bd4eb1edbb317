// The mxfp4 oracle, DeepSeek-V4 path, as data: the backends, names and roundings of the gpt-oss path with another search. It reads no caller's key,
// no override and, the class checks aside, no environment variable. Source: vllm 7e1b45a09 (2026-05-22) fused_moe/oracle/mxfp4.py
// select_deepseek_v4_mxfp4_moe_backend.

#include <array>

#include "model/engine/vllm/tables.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 4> kPriority = {"FLASHINFER_TRTLLM_MXFP4_MXFP8", "DEEPGEMM_MXFP4", "MARLIN", "BATCHED_MARLIN"};
constexpr std::array<Names, 1> kOnRocm = {"AITER_MXFP4_BF16"};
// More accurate than AITER for the model that the path is named after.
constexpr std::array<Names, 2> kOnRocmForV4 = {"TRITON_UNFUSED", "AITER_MXFP4_BF16"};

constexpr std::array kSteps = {
    // The list above is that of every platform but rocm, xpu and cpu included: it has nothing for those two.
    Step{.kind = StepKind::candidates, .when = {.where = on_rocm()}, .backends = kOnRocm},
    Step{.kind = StepKind::candidates, .when = {.where = on_rocm(), .routings = bit(Routing::deepseek_v4)}, .backends = kOnRocmForV4},
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::rewrite, .when = {.named = true}},
    // No filter on the activation key: every backend that the name stands for is tried with its own.
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::walk},
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

}  // namespace

const OracleTables& mxfp4_deepseek_v4_tables() {
  static const OracleTables tables = [] {
    OracleTables shared = mxfp4_tables();
    shared.name = "mxfp4_deepseek_v4";
    shared.keys = KeyPolicy::own;
    shared.priority = kPriority;
    shared.steps = kSteps;
    return shared;
  }();
  return tables;
}

}  // namespace mx::oracle
