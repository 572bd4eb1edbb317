#pragma once
// What processes that share a deployment settle among themselves.

#include <vector>

#include "sim/ranks/deployment.hpp"

namespace mx::sim {

/// A launcher starts whatever it is told to. Throws Error(usage) on every process when one has other weights, tokens, backend or spreading than rank
/// 0.
void require_same_deployment(const SimulationRequest& request, const ModelLayer& layer, const SampleTokens& tokens, Transport& transport);

/// The losses of the lowest rank that has any; `ranks_here` is the number of ranks of this process. Nobody goes on before everyone has converted.
std::vector<layout::Loss> agreed_losses(const std::vector<layout::Loss>& here, std::size_t ranks_here, Transport& transport);

}  // namespace mx::sim
