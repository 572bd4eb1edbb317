#include "sim/ranks/plan.hpp"

#include <algorithm>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"

namespace mx::sim {
namespace {

using fault::Fault;
using fault::planted;

void check(const PlanRequest& request, const deployment::Parallel& parallel, int ranks) {
  if (parallel.pcp_size > 1 || parallel.sp_size > 1) {
    throw Error(ErrorCode::unsupported, "pcp " + std::to_string(parallel.pcp_size) + " and sp " + std::to_string(parallel.sp_size) +
                                            ": ranks of context and sequence parallelism are not simulated");
  }
  if (ranks > kMostRanks)
    throw Error(ErrorCode::unsupported, std::to_string(ranks) + " ranks: at most " + std::to_string(kMostRanks) + " are simulated in one process");
  if (request.whole.intermediate % parallel.tp_size != 0) {
    throw Error(ErrorCode::usage, "intermediate size " + std::to_string(request.whole.intermediate) + " is not divisible by " +
                                      std::to_string(parallel.tp_size) + " tensor parallel ranks (fused_moe/layer.py asserts it)");
  }
  if (parallel.ep_size > request.whole.experts) {
    throw Error(ErrorCode::usage,
                std::to_string(parallel.ep_size) + " expert parallel ranks share " + std::to_string(request.whole.experts) + " experts");
  }
  if (parallel.ep_size > 1 && request.address == families::ExpertAddress::refused)
    throw Error(ErrorCode::usage,
                "the kernel asserts that a rank has all experts: expert parallelism over " + std::to_string(parallel.ep_size) + " ranks");
  const std::int64_t group = request.group != 0 ? request.group : request.whole.group;
  if (request.allocated_intermediate % group != 0) {
    throw Error(ErrorCode::usage, "a rank's intermediate size " + std::to_string(request.allocated_intermediate) +
                                      " is not a whole number of scale groups of " + std::to_string(group));
  }
}

std::vector<std::int64_t> loaded_experts(const checkpoint::LoaderRow& loader, const engine::ExpertMap& map, std::int64_t experts, int ep_size,
                                         int ep_rank) {
  std::vector<std::int64_t> loaded(static_cast<std::size_t>(map.local_experts), -1);
  const std::int64_t each = experts / ep_size;
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    if (loader.floors_experts || map.map.empty()) {
      const std::int64_t local = expert - ep_rank * each;
      if (local >= 0 && local < each) loaded[static_cast<std::size_t>(local)] = expert;
    } else if (const std::int32_t local = map.map[static_cast<std::size_t>(expert)]; local >= 0) {
      loaded[static_cast<std::size_t>(local)] = expert;
    }
  }
  return loaded;
}

std::int64_t looked_for(families::ExpertAddress address, const engine::ExpertMap& map, std::int64_t expert, int ep_rank) {
  if (map.map.empty()) return expert;
  const std::int64_t first = ep_rank * map.local_experts;
  switch (address) {
    case families::ExpertAddress::offset: {
      const std::int64_t local = expert - first - (planted(Fault::sim_expert_offset_twice) ? first : 0);
      return local >= 0 && local < map.local_experts ? local : -1;
    }
    case families::ExpertAddress::ignored: return expert;
    default: break;
  }
  return map.map[static_cast<std::size_t>(expert)];
}

std::string rank_text(const RankPlan& rank) { return "rank " + std::to_string(rank.rank); }

/// Every entry of the intermediate size on exactly one shard.
void check_intermediate(const Plan& plan, std::vector<BrokenLink>& broken) {
  std::int64_t next = 0;
  for (int shard = 0; shard < plan.parallel.tp_size; ++shard) {
    const auto rank = std::ranges::find(plan.ranks, shard, &RankPlan::shard);
    const Interval part = rank->intermediate;
    if (part.count == 0) continue;
    if (part.first != next) {
      broken.push_back({"load", rank_text(*rank) + " begins at intermediate row " + std::to_string(part.first) + ", the ranks before it end at " +
                                    std::to_string(next)});
      return;
    }
    if (part.count > plan.allocated.intermediate) {
      broken.push_back({"load", rank_text(*rank) + " is to hold " + std::to_string(part.count) + " intermediate rows in a buffer of " +
                                    std::to_string(plan.allocated.intermediate)});
      return;
    }
    next = part.first + part.count;
  }
  if (next == plan.whole.intermediate) return;
  broken.push_back({"load", "intermediate rows " + std::to_string(next) + ".." + std::to_string(plan.whole.intermediate - 1) + " of " +
                                std::to_string(plan.whole.intermediate) + " are on no rank"});
}

void check_experts_loaded(const Plan& plan, std::vector<BrokenLink>& broken) {
  for (std::int64_t expert = 0; expert < plan.whole.experts; ++expert) {
    int holders = 0;
    for (int ep = 0; ep < plan.parallel.ep_size; ++ep) {
      const auto rank = std::ranges::find(plan.ranks, ep, &RankPlan::ep);
      holders += static_cast<int>(std::ranges::count(rank->loaded, expert));
    }
    if (holders == 1) continue;
    broken.push_back({"load", "expert " + std::to_string(expert) + (holders == 0 ? " is loaded on no rank" : " is loaded on several ranks") +
                                  " (loader " + std::string(plan.loader->name) + ")"});
    return;
  }
}

void check_addresses(const Plan& plan, std::vector<BrokenLink>& broken) {
  for (const RankPlan& rank : plan.ranks) {
    for (std::int64_t expert = 0; expert < plan.whole.experts; ++expert) {
      const auto at = std::ranges::find(rank.loaded, expert);
      const std::int64_t held = at == rank.loaded.end() ? -1 : at - rank.loaded.begin();
      const std::int64_t wanted = rank.addressed[static_cast<std::size_t>(expert)];
      if (held == wanted) continue;
      const auto place = [](std::int64_t local) { return local < 0 ? std::string("elsewhere") : "at local " + std::to_string(local); };
      broken.push_back({"experts", rank_text(rank) + ": the kernel takes expert " + std::to_string(expert) + " to be " + place(wanted) +
                                       ", the loader put it " + place(held)});
      return;
    }
  }
}

void check_bias(const Plan& plan, std::vector<BrokenLink>& broken) {
  if (plan.parallel.tp_size == 1) return;
  int holders = 0;
  for (int shard = 0; shard < plan.parallel.tp_size; ++shard)
    holders += std::ranges::find(plan.ranks, shard, &RankPlan::shard)->loads_w2_bias ? 1 : 0;
  if (holders == 1) return;
  broken.push_back({"load", "the bias of w2 is on " + std::to_string(holders) + " of " + std::to_string(plan.parallel.tp_size) +
                                " tensor parallel ranks: it is added " + std::to_string(holders) + " times"});
}

}  // namespace

Plan make_plan(const PlanRequest& request) {
  const deployment::Parallel parallel = deployment::derive(request.parallel, request.engine);
  const int per_dp = request.parallel.tp;
  const int ranks = request.parallel.dp * per_dp;
  check(request, parallel, ranks);
  const auto wanted = request.parallel.round_robin ? engine::ExpertPlacement::round_robin : engine::ExpertPlacement::linear;
  const std::optional<std::int64_t> groups = request.expert_groups > 0 ? std::optional(request.expert_groups) : std::nullopt;
  Plan plan{parallel, &checkpoint::loader_of(request.form), request.whole, request.whole, engine::granted_placement({wanted, groups, 0}, parallel),
            {}};
  if (request.group != 0) plan.allocated.group = request.group;
  plan.allocated.hidden = request.allocated_hidden;
  plan.allocated.intermediate = request.allocated_intermediate;
  for (int rank = 0; rank < ranks; ++rank) {
    const deployment::Ranks derived = deployment::derive_ranks(request.parallel, {.tp = rank % per_dp, .pcp = 0, .dp = rank / per_dp, .ep = 0});
    const engine::ExpertMap map = engine::determine_expert_map(parallel.ep_size, derived.ep, request.whole.experts, plan.placement);
    RankPlan part{rank, rank / per_dp, rank % per_dp, derived.tp, derived.ep, {}, {}, {}, true};
    part.intermediate = plan.loader->cut(request.whole.intermediate, request.allocated_intermediate, derived.tp, parallel.tp_size);
    part.loaded = loaded_experts(*plan.loader, map, request.whole.experts, parallel.ep_size, derived.ep);
    for (std::int64_t expert = 0; expert < request.whole.experts; ++expert)
      part.addressed.push_back(looked_for(request.address, map, expert, derived.ep));
    part.loads_w2_bias = derived.tp == 0 || planted(Fault::sim_bias_on_every_rank);
    plan.ranks.push_back(std::move(part));
  }
  return plan;
}

std::vector<BrokenLink> broken_links(const Plan& plan) {
  std::vector<BrokenLink> broken;
  check_intermediate(plan, broken);
  check_experts_loaded(plan, broken);
  check_addresses(plan, broken);
  check_bias(plan, broken);
  return broken;
}

}  // namespace mx::sim
