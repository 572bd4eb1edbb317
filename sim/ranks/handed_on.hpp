#pragma once
// A row of arithmetic as an engine calls its kernel: with the constants and biases that the engine hands on.

#include <string>

#include "sim/ranks/deployment.hpp"

namespace mx::sim {

/// The exception that the engine raises for a constant of the layer; empty: none.
std::string raised_for(const SimulationRequest& request, const ModelLayer& layer);

/// The row of the request's backend without what does not reach its kernel. Throws Error(unsupported) where a constant that the layer has makes the
/// engine raise, and as execution_of does.
const families::ExecutionRow& row_handed_on(const SimulationRequest& request, const ModelLayer& layer);

}  // namespace mx::sim
