#pragma once
// What `mxact sim` says.

#include <string>
#include <vector>

#include "model/audit/needs.hpp"
#include "sim/ranks/comparison.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// One deployment's answer: a simulation, or a refusal that says why there is none.
struct SimAnswer {
  std::string backend;
  sim::Selected selected;
  sim::Simulation simulation;
  std::string refusal;
  std::string unmodelled = {};                           ///< why mxact does not simulate what the engine runs
  std::vector<const families::KernelNeed*> broken = {};  ///< needs that the choice does not meet
  std::string legacy;                                    ///< what the legacy method decided beside the backend; empty: an oracle chose
};

/// A case for each link.
Document simulation_document(const sim::Scenario& scenario, const SimAnswer& answer);

/// Every backend of an oracle over ways of spreading; a case for each cell.
Document comparison_document(const sim::Scenario& scenario, const sim::Comparison& comparison);

}  // namespace mx::verbs
