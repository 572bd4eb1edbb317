#pragma once
// What Humming does to weights beside the order of fragments. Source: inclusionAI/humming,
// humming/include/humming/kernel, releases 0.1.12 and 0.1.19; golden/witness/layouts-humming.

#include <string_view>

#include "model/layout/layout.hpp"

namespace mx::families::blocks {

/// Behind fragment_order of 4-bit weights: within a word the magnitude bits of unit p are those of value p, while the signs follow the units' order.
layout::Layout& magnitudes_in_value_order(layout::Layout& layout);

/// Behind fragment_order of 4-bit weights for 8-bit activations: 64 of K a row instead of 32. Columns must be multiples of 64.
layout::Layout& pack_k(layout::Layout& layout, std::string_view rows, std::string_view cols);

/// [.., rows, cols] of bytes -> [.., cols / 16, rows, 16]. Columns must be multiples of 16.
layout::Layout& byte_columns(layout::Layout& layout, std::string_view rows, std::string_view cols);

}  // namespace mx::families::blocks
