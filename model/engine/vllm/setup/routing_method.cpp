#include "model/engine/vllm/setup/routing_method.hpp"

#include <array>

namespace mx::oracle {
namespace {

// The softmax rule gave Renormalize instead of RenormalizeNaive before vllm PR 43223 (2026-05-21).
constexpr std::array<RoutingRow, 11> kRows = {{
    {.scoring = "sqrtsoftplus", .renormalize = true, .result = Routing::deepseek_v4},
    {.scoring = "sqrtsoftplus", .result = Routing::unspecified},
    {.scoring = "sigmoid", .has_score_bias = true, .has_expert_groups = true, .result = Routing::deepseek_v3},
    {.scoring = "sigmoid", .has_score_bias = true, .result = Routing::minimax2},
    {.has_score_bias = true, .result = Routing::unspecified},
    {.scoring = "sigmoid", .top_1 = true, .result = Routing::llama4},
    {.scoring = "sigmoid", .renormalize = true, .result = Routing::sigmoid_renorm},
    {.scoring = "sigmoid", .result = Routing::unspecified},
    {.scoring = "softmax", .renormalize = true, .result = Routing::renormalize_naive},
    {.scoring = "softmax", .result = Routing::standard},
    {.result = Routing::unspecified},
}};

bool admits(const std::optional<bool>& wanted, bool fact) { return !wanted || *wanted == fact; }

bool holds(const RoutingRow& row, const RoutingRequest& request) {
  return (row.scoring.empty() || row.scoring == request.scoring) && admits(row.has_score_bias, request.has_score_bias) &&
         admits(row.has_expert_groups, request.expert_groups.value_or(0) > 0) && admits(row.top_1, request.top_k == 1) &&
         admits(row.renormalize, request.renormalize);
}

}  // namespace

std::span<const RoutingRow> routing_rows() { return kRows; }

Routing routing_method_of(std::span<const RoutingRow> rows, const RoutingRequest& request) {
  for (const RoutingRow& row : rows) {
    if (holds(row, request)) return row.result;
  }
  return Routing::unspecified;
}

Routing routing_method_of(const RoutingRequest& request) { return routing_method_of(kRows, request); }

}  // namespace mx::oracle
