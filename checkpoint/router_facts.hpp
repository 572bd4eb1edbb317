#pragma once
// How a model's router goes, as its configuration says: which scores, which choice, which weights; the engine's name of that, and the row of the
// table of routers that computes it.

#include <cstdint>
#include <string>
#include <string_view>

#include "checkpoint/checkpoint_files.hpp"
#include "model/deployment/version.hpp"
#include "model/moe/routing.hpp"

namespace mx::checkpoint {

/// A router's way.
struct RouterFacts {
  std::string scoring;      ///< softmax, sigmoid, sqrtsoftplus, or a word that the configuration has
  bool correction = false;  ///< a number of each expert is added to the choice
  bool grouped = false;     ///< experts are chosen from the best groups, even if there is one group
  std::int64_t groups = 1;
  std::int64_t topk_groups = 1;
  bool renormalises = true;
  double factor = 1;                ///< of every weight
  std::string_view custom = {};     ///< the engine's name, where the model has a function of its own
  const moe::RouterRecipe* recipe;  ///< null: no row computes it
  std::string unknown = {};         ///< then what it is: "softmax scores with a correction"
};

/// Whether the configuration says anything of a router, and that its choice is corrected.
bool names_router(const CheckpointConfig& config);
bool declares_correction(const CheckpointConfig& config);

/// `correction`: whether the layer has a tensor of that kind. Throws Error(input) for a number that is none. Groups that do not divide `experts` are
/// none.
RouterFacts router_facts(const CheckpointConfig& config, bool correction, std::int64_t experts);

/// The engine's name of the method: DeepSeekV3, RenormalizeNaive, Unspecified.
std::string_view routing_method(const RouterFacts& facts, std::int64_t top_k, deployment::Engine engine);

}  // namespace mx::checkpoint
