#pragma once
// In how many blocks the largest code is the format's largest: never or always is what no sound quantizer writes.

#include <span>
#include <vector>

#include "checkpoint/inspect/layer_facts.hpp"

namespace mx::checkpoint {

/// By matrix; where no matrix has blocks enough to tell, of all matrices of the layer together. Nothing where the weights were not read.
std::vector<ScannedFault> odd_reaches(std::span<const PartFacts> parts);

}  // namespace mx::checkpoint
