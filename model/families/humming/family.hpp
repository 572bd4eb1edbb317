#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kHummingLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kHummingBlocks;      ///< building_blocks.cpp
extern const std::span<const ValueBlock> kHummingValueBlocks;    ///< values.cpp
extern const std::span<const NeedTable> kHummingNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kHummingClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kHummingExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kHummingSettingKeys;    ///< parameters.cpp

extern const Family kHummingFamily;

}  // namespace mx::families
