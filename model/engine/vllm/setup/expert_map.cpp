#include "model/engine/vllm/setup/expert_map.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::engine {
namespace {

constexpr std::array<std::string_view, 2> kPlacements = {"linear", "round_robin"};

void require(std::int64_t value, std::int64_t low, std::int64_t high, std::string_view what) {
  if (value >= low && value <= high) return;
  throw Error(ErrorCode::usage,
              std::string(what) + " is " + std::to_string(value) + ", must be in [" + std::to_string(low) + ", " + std::to_string(high) + "]");
}

/// Rank and local index of an expert.
struct Home {
  std::int64_t rank;
  std::int64_t local;
};

Home home_of(std::int64_t expert, std::int64_t ep_size, std::int64_t experts, ExpertPlacement placement) {
  if (placement == ExpertPlacement::round_robin) return {expert % ep_size, expert / ep_size};
  const std::int64_t base = experts / ep_size;
  const std::int64_t larger = experts % ep_size;  // ranks that hold base + 1
  const std::int64_t in_larger = larger * (base + 1);
  if (expert < in_larger) return {expert / (base + 1), expert % (base + 1)};
  return {larger + (expert - in_larger) / base, (expert - in_larger) % base};
}

}  // namespace

std::string_view name_of(ExpertPlacement placement) { return kPlacements[static_cast<std::size_t>(placement)]; }

ExpertPlacement placement_named(std::string_view name) {
  const auto found = std::find(kPlacements.begin(), kPlacements.end(), name);
  if (found == kPlacements.end()) throw Error(ErrorCode::usage, unknown_name("expert placement", name, kPlacements));
  return static_cast<ExpertPlacement>(found - kPlacements.begin());
}

ExpertPlacement granted_placement(const PlacementRequest& request, const deployment::Parallel& parallel) {
  const bool model_allows = request.expert_groups.value_or(0) > 1 && request.redundant_experts == 0 && !parallel.enable_eplb;
  const bool exchange_allows = !parallel.use_all2all_kernels() || parallel.use_deepep_ll_kernels() || parallel.use_nixl_ep_kernels();
  return parallel.use_ep && model_allows && exchange_allows ? request.wanted : ExpertPlacement::linear;
}

ExpertMap determine_expert_map(int ep_size, int ep_rank, std::int64_t experts, ExpertPlacement placement,
                               const std::optional<AiterExpertMask>& aiter) {
  require(ep_size, 1, deployment::kLargestGroup, "ep size");
  require(ep_rank, 0, ep_size - 1, "ep rank");
  require(experts, 1, kLargestExpertCount, "number of experts");
  if (aiter) require(aiter->shared_experts, 0, kLargestExpertCount, "number of shared experts");
  ExpertMap result{experts, {}, {}};
  if (ep_size == 1) return result;

  result.local_experts = 0;
  result.map.assign(static_cast<std::size_t>(experts), -1);
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    const Home home = home_of(expert, ep_size, experts, placement);
    if (home.rank != ep_rank) continue;
    result.map[static_cast<std::size_t>(expert)] = static_cast<std::int32_t>(home.local);
    ++result.local_experts;
  }
  if (!aiter) return result;

  for (std::int32_t local : result.map) result.mask.push_back(local >= 0 ? 1 : 0);
  result.mask.insert(result.mask.end(), static_cast<std::size_t>(aiter->shared_experts), 1);
  result.mask.push_back(0);
  for (std::int64_t i = 0; i < aiter->shared_experts; ++i) result.map.push_back(static_cast<std::int32_t>(result.local_experts + i));
  return result;
}

}  // namespace mx::engine
