#pragma once
// What the second opinion says of this family; the record stands in memory.cpp.

#include "props/families/family.hpp"

namespace mx::props {

extern const std::span<const BlockFormula> kHummingBlocks;  ///< building_blocks.cpp
extern const std::span<const Takes> kHummingTakes;          ///< takes.cpp
extern const FamilyFormulas kHummingFormulas;

}  // namespace mx::props
