#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kMarlinLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kMarlinBlocks;      ///< building_blocks.cpp
extern const std::span<const ValueBlock> kMarlinValueBlocks;    ///< values.cpp
extern const std::span<const BlockInput> kMarlinInputs;         ///< block_inputs.cpp
extern const std::span<const NeedTable> kMarlinNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kMarlinClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kMarlinExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kMarlinSettingKeys;    ///< parameters.cpp

extern const Family kMarlinFamily;

}  // namespace mx::families
