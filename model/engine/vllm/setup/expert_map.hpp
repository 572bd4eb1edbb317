#pragma once
// Which experts live on which rank under expert parallelism.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"

namespace mx::engine {

/// Consecutive experts on a rank, or every ep_size-th one.
enum class ExpertPlacement : std::uint8_t { linear, round_robin };
/// linear, round_robin.
std::string_view name_of(ExpertPlacement placement);
/// Throws Error(usage) with the nearest known name.
ExpertPlacement placement_named(std::string_view name);

/// What decides whether round_robin is granted.
struct PlacementRequest {
  ExpertPlacement wanted;
  std::optional<std::int64_t> expert_groups;
  std::int64_t redundant_experts;
};
/// round_robin falls back to linear (with a warning in the engine) unless the model has more than one expert group, no redundant experts, no EPLB,
/// and the exchange is none at all, DeepEP LL or NIXL EP. Without expert parallelism there is nothing to place: linear.
/// Source: vllm 7e1b45a09 fused_moe/expert_map_manager.py determine_expert_placement_strategy.
ExpertPlacement granted_placement(const PlacementRequest& request, const deployment::Parallel& parallel);

/// The experts of one rank.
struct ExpertMap {
  std::int64_t local_experts;
  std::vector<std::int32_t> map;   ///< [G]: local index, or -1 when on another rank; AITER: [G + shared]; empty when ep_size is 1
  std::vector<std::int32_t> mask;  ///< AITER only: [G + shared + 1], 1 for experts of this rank and shared ones, the last one 0
};

/// What AITER asks for on top: shared experts that are fused into the routed ones, behind them.
struct AiterExpertMask {
  std::int64_t shared_experts;
};

/// The map of rank `ep_rank` of `ep_size` over `experts` experts. The first experts % ep_size ranks have one more than the others (the source's own
/// comment says the last rank does). Throws Error(usage) when the rank is outside its group, or a size outside [1, kLargestExpertCount].
/// Source: vllm 7e1b45a09 fused_moe/expert_map_manager.py determine_expert_map.
ExpertMap determine_expert_map(int ep_size, int ep_rank, std::int64_t experts, ExpertPlacement placement,
                               const std::optional<AiterExpertMask>& aiter = std::nullopt);

/// Experts above this are a mistake, not a model.
inline constexpr std::int64_t kLargestExpertCount = std::int64_t{1} << 20;

}  // namespace mx::engine
