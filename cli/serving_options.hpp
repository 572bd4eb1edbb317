#pragma once
// What a model's directory does not say of its deployment: platform, sizes, variables, engine.

#include <optional>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "verbs/select/asked.hpp"

namespace mx::cli {

struct ServingOptions {
  std::string engine;
  std::vector<std::string> variables;
  std::string platform;
  int tp = 0;  ///< 0: not typed, as below
  int dp = 0;
  bool expert_parallel = false;
  std::string all2all;
  std::string moe_backend;
  std::optional<int> layer;

  /// `oracle`: as typed. Throws Error(usage) as variables_of does.
  verbs::AskedFor asked(const std::string& oracle = {}) const;
  /// Throws Error(usage), "--tp is for WHY", where a placement was typed beside what has none.
  void require_none(const std::string& why) const;
};

/// What a path may be, for help.
inline constexpr const char* kDeploymentOrModel =
    "INFO file that describes the deployment (docs/examples), or a model: its directory or config.json, with --platform";

/// Adds --platform, --tp, --dp, --ep, --all2all, --moe-backend and --env; with `layer` --layer too, which kind of layer is meant.
void add_placement_options(Verb verb, ServingOptions& options, bool layer);
/// Adds --engine, which is returned, beside them.
Option add_serving_options(Verb verb, ServingOptions& options, bool layer);

}  // namespace mx::cli
