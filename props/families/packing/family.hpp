#pragma once
// What the second opinion says of this family; the record stands in building_blocks.cpp.

#include "props/families/family.hpp"

namespace mx::props {

extern const FamilyFormulas kPackingFormulas;

}  // namespace mx::props
