#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kFlashinferCutlassLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kFlashinferCutlassBlocks;      ///< sm90_mixed_building_blocks.cpp
extern const std::span<const BlockInput> kFlashinferCutlassInputs;         ///< block_inputs.cpp
extern const std::span<const NeedTable> kFlashinferCutlassNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kFlashinferCutlassClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kFlashinferCutlassExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kFlashinferCutlassSettingKeys;    ///< parameters.cpp

extern const Family kFlashinferCutlassFamily;

}  // namespace mx::families
