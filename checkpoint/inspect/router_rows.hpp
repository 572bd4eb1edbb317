#pragma once
// Rows of a layer's router that are 0: such an expert's logit is the same for every token.

#include <optional>

#include "checkpoint/scan.hpp"

namespace mx::checkpoint {

/// None where there are none, or the layer has no router that is known by its name. Throws as SafetensorsFile::read does.
std::optional<ScannedFault> zero_router_rows(const CheckpointFiles& files, const FoundGroup& layer_group, const FoundLayer& layer);

}  // namespace mx::checkpoint
