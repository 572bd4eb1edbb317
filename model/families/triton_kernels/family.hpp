#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kTritonKernelsLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kTritonKernelsBlocks;      ///< building_blocks.cpp
extern const std::span<const NeedTable> kTritonKernelsNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kTritonKernelsClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kTritonKernelsExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kTritonKernelsSettingKeys;    ///< parameters.cpp

extern const Family kTritonKernelsFamily;

}  // namespace mx::families
