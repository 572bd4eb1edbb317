#pragma once
// How a layer gets its routing method from the model's configuration.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/deployment/version.hpp"
#include "model/deployment/vocabulary.hpp"

namespace mx::engine {

/// What a model's configuration says about routing.
struct RoutingRequest {
  std::string_view scoring;  ///< softmax, sigmoid, sqrtsoftplus; anything else is a scoring that no rule knows
  std::int64_t top_k;
  bool renormalize;
  std::optional<std::int64_t> expert_groups;  ///< absent counts as 0
  bool has_score_bias;
  std::optional<double> routed_scaling = std::nullopt;  ///< factor; absent counts as 1
};

/// A rule: every condition that is given must hold.
struct RoutingRow {
  std::string_view scoring = {};               ///< empty: any
  std::optional<bool> has_score_bias = {};     ///< empty: either, as in all that follow
  std::optional<bool> has_expert_groups = {};  ///< more than 0 of them
  std::optional<bool> top_1 = {};
  std::optional<bool> renormalize = {};
  deployment::Routing result = deployment::Routing::unspecified;
  deployment::Versions versions = deployment::since(deployment::kVllm2026_05);
  bool unscaled = false;  ///< the scaling factor is absent or 1
};

/// The rules of the engine, first match wins; the last one holds always.
/// Source: vllm 7e1b45a09, 7ca49fbe4 and 4ba787ec9 fused_moe/config.py get_routing_method_type.
std::vector<RoutingRow> routing_rows(deployment::Engine engine);

/// The result of the first rule that holds, Unspecified when none does.
deployment::Routing routing_method_of(std::span<const RoutingRow> rows, const RoutingRequest& request);
deployment::Routing routing_method_of(deployment::Engine engine, const RoutingRequest& request);

}  // namespace mx::engine
