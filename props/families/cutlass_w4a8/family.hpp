#pragma once
// What the second opinion says of this family; the record stands in memory.cpp.

#include "props/families/family.hpp"

namespace mx::props {

extern const std::span<const BlockFormula> kCutlassW4a8Blocks;  ///< building_blocks.cpp
extern const std::span<const Takes> kCutlassW4a8Takes;          ///< takes.cpp
extern const FamilyFormulas kCutlassW4a8Formulas;

}  // namespace mx::props
