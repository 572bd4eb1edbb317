#pragma once
// What the second opinion says of this family; the record stands in memory.cpp.

#include "props/families/family.hpp"

namespace mx::props {

extern const std::span<const BlockFormula> kTritonKernelsBlocks;  ///< building_blocks.cpp
extern const std::span<const Takes> kTritonKernelsTakes;          ///< takes.cpp
extern const FamilyFormulas kTritonKernelsFormulas;

}  // namespace mx::props
