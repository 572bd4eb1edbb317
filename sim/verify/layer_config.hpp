#pragma once
// A checkpoint's layer as an oracle is asked about it.

#include "checkpoint/checkpoint.hpp"
#include "model/deployment/deployment.hpp"

namespace mx::sim {

/// The activation of the first so many layers: the engine is asked once. Throws Error(unsupported) where they have unlike ones, and as
/// Checkpoint::activation() does.
checkpoint::LayerActivation common_activation(const checkpoint::Checkpoint& checkpoint, int layers);

/// The whole layer on one rank. Reads the layer's router. Throws as Checkpoint::router() does.
deployment::LayerConfig layer_config(const checkpoint::Checkpoint& checkpoint, const checkpoint::LayerActivation& activation,
                                     deployment::Engine engine);

}  // namespace mx::sim
