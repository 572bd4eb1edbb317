#pragma once
// View programs drawn from bytes.

#include "model/layout/layout.hpp"
#include "tests/fuzz/target.hpp"

namespace mx::tests {

/// Up to four axes and a width of units, mostly small, now and then anything, and up to twelve steps, of which those that are refused are left out.
/// Throws Error(usage) for axes or a width that no layout takes.
layout::Layout drawn_layout(Bytes& bytes);

}  // namespace mx::tests
