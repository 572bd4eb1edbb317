#pragma once
// What the second opinion says of this family; the record stands in memory.cpp.

#include "props/families/family.hpp"

namespace mx::props {

extern const std::span<const Takes> kEmulationTakes;  ///< takes.cpp
extern const FamilyFormulas kEmulationFormulas;

}  // namespace mx::props
