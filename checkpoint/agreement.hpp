#pragma once
// Whether the tensors of a layer's experts are what its method makes of them: quantized, or not, and all alike.

#include <span>
#include <string>

#include "checkpoint/configuration.hpp"
#include "checkpoint/form_search.hpp"

namespace mx::checkpoint {

/// Throws Error(input) where some experts of a layer are quantized and others are not: names one of each kind, and with `says` what the configuration
/// makes of the layer. `weights` are the tensors of a layer that hold its matrices.
void check_one_kind(std::span<const ExpertName> weights, const ExpertsModule& module, const ModuleMethod& method, bool says);

/// What the method of a layer and its tensors, which are of one kind, say against each other.
Disagreement disagreement_of(std::span<const ExpertName> weights, const ExpertsModule& module, const ModuleMethod& method, deployment::Engine engine);

}  // namespace mx::checkpoint
