#pragma once
// From a deployment file to something that runs: the checkpoint's form that the oracle is asked about, a layer and tokens of that shape from a seed.

#include "sim/ranks/deployment.hpp"
#include "support/deployment_file.hpp"

namespace mx::sim {

struct ScenarioOptions {
  std::int64_t tokens = 4;
  std::uint64_t seed = 1;
  std::int64_t experts = 0;  ///< stand for the file's; 0: as many as it says
  std::int64_t sample = 0;   ///< rows of gate and up and output columns that are computed where the model sums; 0: all
  std::string backend = {};  ///< that will be asked for, looked up before a layer is generated; empty: the engine's choice
};

/// A deployment with what it runs on.
struct Scenario {
  std::string oracle;
  deployment::Deployment deployment;
  deployment::Engine engine;
  ModelLayer layer;
  SampleTokens tokens;
  Outputs sample;                           ///< of what the model sums
  SumsBy sums;                              ///< the twins, unless the layer is so small that the model does as well
  std::vector<std::string> libraries = {};  ///< for families::choose_libraries
  std::string release = {};                 ///< of DeploymentFile
  families::LaunchChoice launch = {};
};

/// Weights of more elements than this are not generated.
inline constexpr std::int64_t kMostWeights = std::int64_t{1} << 30;

/// The scenario on a backend's class.
SimulationRequest request_of(const Scenario& scenario, const deployment::Deployment& deployment, const std::string& backend,
                             const std::string& kernel_class);

/// The weight format of an oracle's weight key. Throws Error(unsupported) for a key without one.
layout::WeightFormat format_of(std::string_view oracle, std::string_view weight_key);

/// Constants that the file only says differ from the usual ones are alpha 1.5 and limit 5 (10 with SILU). Throws Error(usage) for sizes that no
/// layer can have, Error(unsupported) for an activation that is not simulated or a layer without gate, Error(resource) above kMostWeights.
Scenario make_scenario(const support::DeploymentFile& file, const ScenarioOptions& options);

/// The size of the whole layer that a deployment's rank holds a part of.
std::int64_t whole_intermediate(const deployment::Deployment& deployment);

/// The deployment spread otherwise: the layer stays, each rank's part follows. Throws Error(usage) when it cannot be cut.
deployment::Deployment respread(const deployment::Deployment& deployment, const deployment::ParallelRequest& parallel);

}  // namespace mx::sim
