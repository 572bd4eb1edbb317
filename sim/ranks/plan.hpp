#pragma once
// Who holds what in a deployment: each rank's share of the experts and of the intermediate size, as the engine's loader cuts it, and where the rank's
// kernel looks for an expert.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/shard.hpp"
#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/setup/expert_map.hpp"
#include "model/families/arithmetic.hpp"
#include "model/layout/packed.hpp"

namespace mx::sim {

using checkpoint::Interval;

/// One process.
struct RankPlan {
  int rank;  ///< flat
  int dp;
  int tp;  ///< position within the data parallel rank
  int shard;
  int ep;
  Interval intermediate;
  std::vector<std::int64_t> loaded;     ///< [local experts] global number of each, -1: nothing was ever loaded there
  std::vector<std::int64_t> addressed;  ///< [G] where the kernel looks for a global expert: local index, -1 not on this rank
  bool loads_w2_bias;                   ///< once in a tensor parallel group: its first rank; the others keep zeros
};

struct Plan {
  deployment::Parallel parallel;
  const checkpoint::LoaderRow* loader;
  layout::Sizes whole;      ///< of the checkpoint
  layout::Sizes allocated;  ///< of one rank: its local experts, rounded sizes
  engine::ExpertPlacement placement;
  std::vector<RankPlan> ranks;
};

/// What a plan is made from: the checkpoint's sizes, the sizes that the engine allocates on a rank, and how the kernel addresses experts.
struct PlanRequest {
  deployment::ParallelRequest parallel;
  layout::Form form;
  layout::Sizes whole;
  std::int64_t allocated_hidden;
  std::int64_t allocated_intermediate;
  families::ExpertAddress address;
  std::int64_t expert_groups = 0;
  deployment::Engine engine = deployment::kDefaultEngine;
  std::int64_t group = 0;  ///< Sizes::group of what a rank loads, of squares finer than the checkpoint's; 0: the checkpoint's
};

/// Most ranks that are simulated in one process.
inline constexpr int kMostRanks = 64;

/// Throws Error(unsupported) for pcp or sp above 1 and for more than kMostRanks ranks, Error(usage) when an intermediate size does not divide by the
/// tensor parallel ranks or there are more expert parallel ranks than experts, and for kernels that refuse expert parallelism.
Plan make_plan(const PlanRequest& request);

/// What is wrong with a plan by itself: parts that no rank or two ranks hold, an expert that a kernel looks for where it is not. The first line names
/// the link ("load", "experts"). Empty: nothing.
struct BrokenLink {
  std::string_view link;
  std::string text;
};
std::vector<BrokenLink> broken_links(const Plan& plan);

/// The rank's tensors as the loader leaves them: sizes of Plan::allocated, zero where nothing was copied.
layout::CanonicalLayer loaded_layer(const layout::CanonicalLayer& whole, const Plan& plan, const RankPlan& rank);

}  // namespace mx::sim
