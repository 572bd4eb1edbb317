#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kTrtllmLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kTrtllmBlocks;      ///< building_blocks.cpp
extern const std::span<const BlockInput> kTrtllmInputs;         ///< block_inputs.cpp
extern const std::span<const NeedTable> kTrtllmNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kTrtllmClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kTrtllmExecutions;   ///< arithmetic.cpp

extern const Family kTrtllmFamily;

}  // namespace mx::families
