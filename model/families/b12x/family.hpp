#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kB12xLayouts;     ///< memory.cpp
extern const std::span<const NeedTable> kB12xNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kB12xClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kB12xExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kB12xSettingKeys;    ///< parameters.cpp

extern const Family kB12xFamily;

}  // namespace mx::families
