#pragma once
// A packed layer's experts, read as a kernel reads them.

#include <memory>

#include "model/families/convert.hpp"
#include "model/moe/layer.hpp"

namespace mx::families {

/// Reads a backend's packed form where its layout says, at its padded sizes: what a kernel that trusts the layout would read. Throws Error(usage)
/// when the backend is not modelled or a tensor is missing.
std::unique_ptr<moe::Experts> packed_experts(const PackedLayer& layer);

}  // namespace mx::families
