#pragma once
// What this family's converters may look at besides what every converter sees, its tables, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

struct MarlinParameters {
  int largest_scale_byte = 0;  ///< with 8-bit activations: of w13 and w2; convert() fills it in
};

extern const std::span<const BackendLayout> kMarlinLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kMarlinBlocks;      ///< building_blocks.cpp
extern const std::span<const ValueBlock> kMarlinValueBlocks;    ///< values.cpp
extern const std::span<const BlockInput> kMarlinInputs;         ///< block_inputs.cpp
extern const std::span<const NeedTable> kMarlinNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kMarlinClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kMarlinExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kMarlinSettingKeys;    ///< family.cpp

extern const Family kMarlinFamily;

}  // namespace mx::families
