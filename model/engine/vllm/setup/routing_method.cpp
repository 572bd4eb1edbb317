#include "model/engine/vllm/setup/routing_method.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "model/fault.hpp"

namespace mx::engine {
namespace {

constexpr deployment::Versions kMay = deployment::before(deployment::kVllm2026_08);
constexpr deployment::Versions kSinceAugust = deployment::since(deployment::kVllm2026_08);

// The softmax rule gave Renormalize instead of RenormalizeNaive before vllm PR 43223 (2026-05-21).
constexpr std::array<RoutingRow, 15> kRows = {{
    {.scoring = "sqrtsoftplus", .renormalize = true, .result = deployment::Routing::deepseek_v4},
    {.scoring = "sqrtsoftplus", .result = deployment::Routing::unspecified},
    {.scoring = "sigmoid", .has_score_bias = true, .has_expert_groups = true, .result = deployment::Routing::deepseek_v3, .versions = kMay},
    {.scoring = "sigmoid", .has_score_bias = true, .result = deployment::Routing::minimax2, .versions = kMay},
    {.scoring = "sigmoid",
     .has_score_bias = true,
     .has_expert_groups = true,
     .renormalize = true,
     .result = deployment::Routing::deepseek_v3,
     .versions = kSinceAugust},
    {.scoring = "sigmoid",
     .has_score_bias = true,
     .renormalize = true,
     .result = deployment::Routing::minimax2,
     .versions = deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11),
     .unscaled = true},
    {.scoring = "sigmoid",
     .has_score_bias = true,
     .renormalize = true,
     .result = deployment::Routing::minimax2,
     .versions = deployment::since(deployment::kVllm2026_11)},
    {.has_score_bias = true, .result = deployment::Routing::unspecified},
    {.scoring = "sigmoid", .top_1 = true, .result = deployment::Routing::llama4, .versions = kMay},
    {.scoring = "sigmoid", .renormalize = true, .result = deployment::Routing::sigmoid_renorm},
    {.scoring = "sigmoid", .result = deployment::Routing::unspecified, .versions = kMay},
    {.scoring = "sigmoid", .result = deployment::Routing::sigmoid, .versions = kSinceAugust},
    {.scoring = "softmax", .renormalize = true, .result = deployment::Routing::renormalize_naive},
    {.scoring = "softmax", .result = deployment::Routing::standard},
    {.result = deployment::Routing::unspecified},
}};

bool admits(const std::optional<bool>& wanted, bool fact) { return !wanted || *wanted == fact; }

bool holds(const RoutingRow& row, const RoutingRequest& request) {
  return (row.scoring.empty() || row.scoring == request.scoring) && admits(row.has_score_bias, request.has_score_bias) &&
         admits(row.has_expert_groups, request.expert_groups.value_or(0) > 0) && admits(row.top_1, request.top_k == 1) &&
         admits(row.renormalize, request.renormalize) &&
         (!row.unscaled || request.routed_scaling.value_or(1) == 1 || fault::planted(fault::Fault::routing_keeps_scaling));
}

}  // namespace

std::vector<RoutingRow> routing_rows(deployment::Engine engine) {
  std::vector<RoutingRow> rows;
  std::ranges::copy_if(kRows, std::back_inserter(rows), [&](const RoutingRow& row) { return row.versions.has(engine); });
  return rows;
}

deployment::Routing routing_method_of(std::span<const RoutingRow> rows, const RoutingRequest& request) {
  for (const RoutingRow& row : rows) {
    if (holds(row, request)) return row.result;
  }
  return deployment::Routing::unspecified;
}

deployment::Routing routing_method_of(deployment::Engine engine, const RoutingRequest& request) {
  return routing_method_of(routing_rows(engine), request);
}

}  // namespace mx::engine
