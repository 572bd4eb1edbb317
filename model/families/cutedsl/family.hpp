#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kCutedslLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kCutedslBlocks;      ///< memory.cpp
extern const std::span<const NeedTable> kCutedslNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kCutedslClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kCutedslExecutions;   ///< arithmetic.cpp

extern const Family kCutedslFamily;

}  // namespace mx::families
