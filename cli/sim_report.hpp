#pragma once
// What `mxact sim` prints.

#include <string>

#include "cli/output.hpp"
#include "sim/ranks/comparison.hpp"

namespace mx::cli {

/// One deployment's answer: a simulation, or a refusal that says why there is none.
struct SimAnswer {
  std::string backend;
  sim::Selected selected;
  sim::Simulation simulation;
  std::string refusal;
  std::string legacy;  ///< what the legacy method decided beside the backend; empty: an oracle chose
};

void print_simulation(const sim::Scenario& scenario, const SimAnswer& answer);
Json simulation_json(const sim::Scenario& scenario, const SimAnswer& answer);

void print_comparison(const sim::Scenario& scenario, const sim::Comparison& comparison);
Json comparison_json(const sim::Scenario& scenario, const sim::Comparison& comparison);

}  // namespace mx::cli
