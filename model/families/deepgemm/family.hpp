#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kDeepgemmLayouts;             ///< memory.cpp
extern const std::span<const BuildingBlock> kDeepgemmBlocks;              ///< building_blocks.cpp
extern const std::span<const ValueBlock> kDeepgemmValueBlocks;            ///< building_blocks.cpp
extern const std::span<const NeedTable> kDeepgemmNeeds;                   ///< needs.cpp
extern const std::span<const KernelClassFacts> kDeepgemmClasses;          ///< needs.cpp
extern const std::span<const ExecutionRow> kDeepgemmExecutions;           ///< arithmetic.cpp
extern const std::span<const SettingKey> kDeepgemmSettingKeys;            ///< parameters.cpp
extern const std::span<const SettingVariable> kDeepgemmSettingVariables;  ///< parameters.cpp

extern const Family kDeepgemmFamily;

}  // namespace mx::families
