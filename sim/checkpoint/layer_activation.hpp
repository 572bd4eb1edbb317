#pragma once
// The activation of a model's experts, as its configuration names it.

#include <string_view>

#include "sim/checkpoint/checkpoint_files.hpp"

namespace mx::sim {

/// Whether experts of the model may have no gate: the configuration names an activation of one input, or none.
bool may_lack_gate(const CheckpointConfig& config);

/// The engine's name of the activation: what the configuration says, else `usual`, of experts without gate the one of one input. Throws
/// Error(unsupported) for a word that no activation of the engine is known by.
std::string_view activation_of(const CheckpointConfig& config, bool gated, std::string_view usual);

}  // namespace mx::sim
