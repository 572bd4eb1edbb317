#pragma once
// What this family's converters may look at besides what every converter sees, its tables, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

struct B12xParameters {
  bool a16 = false;  ///< 16-bit activations with NVFP4 weights
};

extern const std::span<const BackendLayout> kB12xLayouts;     ///< memory.cpp
extern const std::span<const NeedTable> kB12xNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kB12xClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kB12xExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kB12xSettingKeys;    ///< family.cpp

extern const Family kB12xFamily;

}  // namespace mx::families
