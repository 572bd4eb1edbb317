#pragma once
// Settings that converters take and refuse.

#include <vector>

#include "model/families/memory.hpp"

namespace mx::props {

/// Both orders, gated or not.
std::vector<layout::Form> forms_of(layout::WeightFormat format);

/// Thousands of settings, the same on every machine: sizes around every tile, devices, releases and options that any converter looks at.
std::vector<families::Setting> settings_of(layout::WeightFormat format);

}  // namespace mx::props
