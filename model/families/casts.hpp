#pragma once
// Every transform of units that some family makes.

#include <span>
#include <string_view>

#include "model/layout/cast.hpp"

namespace mx::families {

/// Every transform, the identity first.
std::span<const layout::Cast> all_casts();
/// Throws Error(usage) with the nearest name.
const layout::Cast& cast_named(std::string_view name);

}  // namespace mx::families
