#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kCpuLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kCpuBlocks;      ///< building_blocks.cpp
extern const std::span<const BlockInput> kCpuInputs;         ///< block_inputs.cpp
extern const std::span<const NeedTable> kCpuNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kCpuClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kCpuExecutions;   ///< arithmetic.cpp

extern const Family kCpuFamily;

}  // namespace mx::families
