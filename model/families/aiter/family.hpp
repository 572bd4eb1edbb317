#pragma once
// What this family's converters may look at besides what every converter sees, its tables, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

struct AiterParameters {
  bool a8w4 = false;  ///< AITER_MXFP4_BF16 with situ
};

extern const std::span<const BackendLayout> kAiterLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kAiterBlocks;      ///< building_blocks.cpp
extern const std::span<const BlockInput> kAiterInputs;         ///< block_inputs.cpp
extern const std::span<const NeedTable> kAiterNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kAiterClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kAiterExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kAiterSettingKeys;    ///< family.cpp

extern const Family kAiterFamily;

}  // namespace mx::families
