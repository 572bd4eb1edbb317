#pragma once
// What many numbers of a layer have together, and which of it no sound file has.

#include <span>
#include <vector>

#include "checkpoint/inspect/layer_facts.hpp"

namespace mx::checkpoint {

/// Of scales, of factors, of codes, of experts. Without weights: what scales alone show. Throws as SafetensorsFile::read does.
std::vector<ScannedFault> odd_statistics(const FoundGroup& layer_group, const FoundLayer& layer, std::span<const PartFacts> parts);

}  // namespace mx::checkpoint
