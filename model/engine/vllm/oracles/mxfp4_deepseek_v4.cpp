// The mxfp4 oracle, DeepSeek-V4 path, as data: the backends, names and roundings of the gpt-oss path with another search. It reads no caller's key,
// no override and, the class checks aside, no environment variable. Source: vllm 7e1b45a09, 7ca49fbe4 and 4ba787ec9 fused_moe/oracle/mxfp4.py
// select_deepseek_v4_mxfp4_moe_backend.

#include <array>

#include "model/engine/vllm/oracles/mxfp4_rows.hpp"

namespace mx::engine {
namespace {

constexpr std::array kPriority = {
    PriorityRow{"FLASHINFER_TRTLLM_MXFP4_MXFP8"}, PriorityRow{"DEEPGEMM_MXFP4"}, PriorityRow{"MARLIN"}, PriorityRow{"BATCHED_MARLIN"},
    PriorityRow{"HUMMING", kSinceNovember},
};
constexpr std::array kMoves = {humming_before("MARLIN")};
constexpr std::array<Names, 1> kOnRocm = {"AITER_MXFP4_BF16"};
constexpr std::array<Names, 2> kOnRocmOrEmulated = {"AITER_MXFP4_BF16", "EMULATION"};
// In 2026-05 the more accurate one came first for the model that the path is named after.
constexpr std::array<Names, 2> kOnRocmForV4May = {"TRITON_UNFUSED", "AITER_MXFP4_BF16"};
constexpr std::array<Names, 2> kOnRocmForV4 = {"AITER_MXFP4_BF16", "TRITON_UNFUSED"};
constexpr std::array<Names, 1> kXpu = {"XPU"};
constexpr std::array<Names, 1> kCpu = {"CPU"};

constexpr deployment::Where kOnXpu{.platforms = deployment::bit(deployment::PlatformKind::xpu)};
constexpr deployment::Where kOnCpu{.platforms = deployment::bit(deployment::PlatformKind::cpu)};
constexpr deployment::Mask kV4 = deployment::bit(deployment::Routing::deepseek_v4);

constexpr std::array kSteps = {
    // The list above is that of every platform but rocm; in 2026-05 it has nothing for xpu and cpu.
    Step{.kind = StepKind::candidates, .when = {.where = deployment::on_rocm()}, .backends = kOnRocm, .versions = kMay},
    Step{.kind = StepKind::candidates, .when = {.where = deployment::on_rocm(), .routings = kV4}, .backends = kOnRocmForV4May, .versions = kMay},
    Step{.kind = StepKind::candidates, .when = {.where = deployment::on_rocm()}, .backends = kOnRocmOrEmulated, .versions = kSinceAugust},
    Step{.kind = StepKind::candidates, .when = {.where = deployment::on_rocm(), .routings = kV4}, .backends = kOnRocmForV4, .versions = kSinceAugust},
    Step{.kind = StepKind::candidates, .when = {.where = kOnXpu}, .backends = kXpu, .versions = kSinceAugust},
    Step{.kind = StepKind::candidates, .when = {.where = kOnCpu}, .backends = kCpu, .versions = kSinceNovember},
    Step{.kind = StepKind::map_name},
    Step{.kind = StepKind::rewrite, .when = {.named = true}},
    Step{.kind = StepKind::candidates, .when = {.variables = kForceA16, .wish = "b12x"}, .backends = kB12xBf16, .versions = kSinceAugust},
    // No filter on the activation key: every backend that the name stands for is tried with its own.
    Step{.kind = StepKind::try_in_turn, .when = {.named = true}},
    Step{.kind = StepKind::walk},
    Step{.kind = StepKind::raise, .error_type = "NotImplementedError", .why = "no backend supports this deployment"},
};

OracleTables rest(deployment::Engine engine) {
  OracleTables tables = mxfp4_tables(engine);
  tables.name = "mxfp4_deepseek_v4";
  tables.keys = KeyPolicy::own;
  tables.support_keys = KeyPolicy::own;
  return tables;
}

OracleSource source() {
  OracleSource shared = mxfp4_source();
  shared.priority = kPriority;
  shared.moves = kMoves;
  shared.steps = kSteps;
  return shared;
}

}  // namespace

const OracleTables& mxfp4_deepseek_v4_tables(deployment::Engine engine) {
  static const auto all = tables_of_all(source(), rest);
  return all.at(engine).tables;
}

}  // namespace mx::engine
