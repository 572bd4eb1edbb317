// The routing method that a model's configuration gives.

#include "model/engine/vllm/setup/routing_method.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace mx::deployment;
using namespace mx::engine;

TEST_CASE("each rule of the routing methods, and what comes before it") {
  struct Row {
    RoutingRequest request;
    Routing expected;
  };
  const Row rows[] = {
      {{"sqrtsoftplus", 6, true, std::nullopt, true}, Routing::deepseek_v4},
      {{"sqrtsoftplus", 6, false, 4, true}, Routing::unspecified},
      {{"sigmoid", 8, true, 8, true}, Routing::deepseek_v3},
      {{"sigmoid", 8, false, 1, true}, Routing::deepseek_v3},
      // No groups, however it is said; top 1 does not make it Llama4 when there is a bias.
      {{"sigmoid", 1, true, 0, true}, Routing::minimax2},
      {{"sigmoid", 8, false, std::nullopt, true}, Routing::minimax2},
      {{"softmax", 8, true, 4, true}, Routing::unspecified},
      {{"other", 8, true, std::nullopt, true}, Routing::unspecified},
      {{"sigmoid", 1, true, 8, false}, Routing::llama4},
      {{"sigmoid", 1, false, std::nullopt, false}, Routing::llama4},
      {{"sigmoid", 2, true, 8, false}, Routing::sigmoid_renorm},
      {{"sigmoid", 2, false, 8, false}, Routing::unspecified},
      {{"softmax", 1, true, std::nullopt, false}, Routing::renormalize_naive},
      {{"softmax", 1, false, std::nullopt, false}, Routing::standard},
      {{"", 1, true, std::nullopt, false}, Routing::unspecified},
  };
  for (const Row& row : rows) {
    INFO(row.request.scoring << " top " << row.request.top_k << ", renormalize " << row.request.renormalize << ", groups "
                             << row.request.expert_groups.value_or(-1) << ", bias " << row.request.has_score_bias);
    CHECK(name_of(routing_method_of(mx::deployment::kVllm2026_05, row.request)) == name_of(row.expected));
  }
}

TEST_CASE("another engine version is another table") {
  // As before vllm PR 43223.
  std::vector<RoutingRow> rows = routing_rows(mx::deployment::kVllm2026_05);
  for (RoutingRow& row : rows) {
    if (row.result == Routing::renormalize_naive) row.result = Routing::renormalize;
  }
  CHECK(routing_method_of(rows, {"softmax", 4, true, std::nullopt, false}) == Routing::renormalize);
  CHECK(routing_method_of(std::span<const RoutingRow>(), {"softmax", 4, true, std::nullopt, false}) == Routing::unspecified);
}
