#pragma once
// What this family's converters may look at besides what every converter sees, its tables, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

struct DeepgemmParameters {
  bool e8m0 = true;  ///< VLLM_USE_DEEP_GEMM_E8M0, on by default: scales of FP8 blocks become powers of two
};

extern const std::span<const BackendLayout> kDeepgemmLayouts;             ///< memory.cpp
extern const std::span<const BuildingBlock> kDeepgemmBlocks;              ///< building_blocks.cpp
extern const std::span<const ValueBlock> kDeepgemmValueBlocks;            ///< building_blocks.cpp
extern const std::span<const NeedTable> kDeepgemmNeeds;                   ///< needs.cpp
extern const std::span<const KernelClassFacts> kDeepgemmClasses;          ///< needs.cpp
extern const std::span<const ExecutionRow> kDeepgemmExecutions;           ///< arithmetic.cpp
extern const std::span<const SettingKey> kDeepgemmSettingKeys;            ///< family.cpp
extern const std::span<const SettingVariable> kDeepgemmSettingVariables;  ///< family.cpp

extern const Family kDeepgemmFamily;

}  // namespace mx::families
