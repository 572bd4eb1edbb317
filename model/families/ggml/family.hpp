#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BuildingBlock> kGgmlBlocks;  ///< building_blocks.cpp

extern const Family kGgmlFamily;

}  // namespace mx::families
