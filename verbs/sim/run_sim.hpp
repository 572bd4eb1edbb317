#pragma once
// A deployment put to the engine and simulated: what `mxact sim` runs.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/transport/transport.hpp"
#include "verbs/select/asked.hpp"
#include "verbs/sim/sim_document.hpp"

namespace mx::verbs {

/// What is simulated, and how.
struct SimRequest {
  std::string path;  ///< an INFO file, or a model's directory or configuration
  AskedFor asked;
  std::optional<int> layer = {};            ///< of a model: the kind of layers that this one belongs to; none: the first
  std::string backend = {};                 ///< simulated in the place of the engine's choice
  std::vector<std::string> libraries = {};  ///< for families::choose_libraries
  families::LaunchChoice launch = {};
  std::int64_t tokens = 4;
  std::int64_t seed = 1;     ///< of weights and tokens
  std::int64_t experts = 0;  ///< that stand for the file's; 0: its own
  std::int64_t sample = 0;   ///< rows and columns that are computed where no fast twin has the contract; 0: all
  bool legacy = false;       ///< the engine's mxfp4 method of August 2025 decides
  std::string torch = "2.8.0";
};

/// Told what is done, and the share that is done already.
using SimProgress = std::function<void(const std::string&, double)>;

/// Throws as asked_about, kind_of and make_scenario do.
sim::Scenario scenario_of(const SimRequest& request);

/// The engine's choice, or the backend that was asked for, on every rank, held against one rank. Throws as the scenario's parts do.
SimAnswer simulated(const sim::Scenario& scenario, const SimRequest& request, sim::Transport& transport, const SimProgress& progress);

}  // namespace mx::verbs
