#pragma once
// What the second opinion says of this family; the record stands in memory.cpp.

#include "props/families/family.hpp"

namespace mx::props {

extern const std::span<const Takes> kB12xTakes;  ///< takes.cpp
extern const FamilyFormulas kB12xFormulas;

}  // namespace mx::props
