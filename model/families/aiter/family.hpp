#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kAiterLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kAiterBlocks;      ///< building_blocks.cpp
extern const std::span<const BlockInput> kAiterInputs;         ///< block_inputs.cpp
extern const std::span<const NeedTable> kAiterNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kAiterClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kAiterExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kAiterSettingKeys;    ///< parameters.cpp

extern const Family kAiterFamily;

}  // namespace mx::families
