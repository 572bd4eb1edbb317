#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kCutlassW4a8Layouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kCutlassW4a8Blocks;      ///< building_blocks.cpp
extern const std::span<const ValueBlock> kCutlassW4a8ValueBlocks;    ///< building_blocks.cpp
extern const std::span<const BlockInput> kCutlassW4a8Inputs;         ///< block_inputs.cpp
extern const std::span<const NeedTable> kCutlassW4a8Needs;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kCutlassW4a8Classes;  ///< needs.cpp
extern const std::span<const ExecutionRow> kCutlassW4a8Executions;   ///< arithmetic.cpp

extern const Family kCutlassW4a8Family;

}  // namespace mx::families
