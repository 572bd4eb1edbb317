#pragma once
// Every transform of units that some family makes.

#include <span>
#include <string_view>

#include "model/layout/cast.hpp"

namespace mx::layout {

/// Every transform, the identity first.
std::span<const Cast> all_casts();
/// Throws Error(usage) with the nearest name.
const Cast& cast_named(std::string_view name);

}  // namespace mx::layout
