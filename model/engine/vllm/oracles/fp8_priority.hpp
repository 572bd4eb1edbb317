#pragma once
// The order in which the fp8 oracle tries its backends, before environment variables remove or force any.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/deployment/where.hpp"

namespace mx::oracle {

/// Moves one backend to the front where every given condition holds.
struct FrontRow {
  PlatformKind platform;
  std::string_view backend;
  CapRange capability = kAnyCapability;
  std::optional<QuantKey> weight_key = {};  ///< empty: any, as in all that follow
  std::optional<QuantKey> activation_key = {};
  std::optional<bool> experts_split = {};  ///< ep_size above 1
};

struct PriorityTable {
  std::span<const std::string_view> backends;
  std::span<const FrontRow> to_front;  ///< applied in order
};

/// Source: vllm 7e1b45a09 fused_moe/oracle/fp8.py _get_priority_backends.
const PriorityTable& fp8_priority_table();

/// Every backend of the table once, best first. `ep_size` is at least 1. Throws Error(usage) for a row that moves a backend which the table lacks.
std::vector<std::string_view> priority_order(const PriorityTable& table, const Hardware& hardware, int ep_size, QuantKey weight_key,
                                             QuantKey activation_key);

}  // namespace mx::oracle
