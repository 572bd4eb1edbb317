#pragma once
// The order in which an oracle tries its backends, before environment variables remove or force any.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/deployment/where.hpp"

namespace mx::engine {

/// Where a moved backend goes. Beside another one it goes only where it would not stand on that side anyway.
enum class Move : std::uint8_t { front, back, before, behind };

/// Moves one backend where every given condition holds.
struct FrontRow {
  deployment::PlatformKind platform;
  std::string_view backend;
  deployment::CapRange capability = deployment::kAnyCapability;
  std::optional<deployment::QuantKey> weight_key = {};  ///< empty: any, as in all that follow
  std::optional<deployment::QuantKey> activation_key = {};
  std::optional<bool> experts_split = {};  ///< ep_size above 1
  deployment::Versions versions = deployment::since(deployment::kVllm2026_05);
  Move move = Move::front;
  std::string_view beside = {};  ///< of before and behind: that backend
  std::optional<bool> deepep_v2 = {};
  std::optional<bool> data_parallel = {};  ///< dp_size above 1
  std::optional<deployment::Activation> activation = {};
};

struct PriorityTable {
  std::span<const std::string_view> backends;
  std::span<const FrontRow> to_front;  ///< applied in order
};

/// What an order may depend on.
struct PriorityRequest {
  const deployment::Hardware& hardware;
  const deployment::Parallel& parallel;
  deployment::QuantKey weight_key;
  deployment::QuantKey activation_key;
  deployment::Activation activation;
};

/// Every backend of the table once, best first. Throws Error(usage) for a row that moves a backend which the table lacks.
std::vector<std::string_view> priority_order(const PriorityTable& table, const PriorityRequest& request);

}  // namespace mx::engine
