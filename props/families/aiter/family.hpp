#pragma once
// What the second opinion says of this family; the record stands in memory.cpp.

#include "props/families/family.hpp"

namespace mx::props {

extern const std::span<const BlockFormula> kAiterBlocks;  ///< building_blocks.cpp
extern const std::span<const Takes> kAiterTakes;          ///< takes.cpp
extern const FamilyFormulas kAiterFormulas;

}  // namespace mx::props
