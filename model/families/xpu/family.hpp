#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kXpuLayouts;     ///< memory.cpp
extern const std::span<const NeedTable> kXpuNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kXpuClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kXpuExecutions;   ///< arithmetic.cpp

extern const Family kXpuFamily;

}  // namespace mx::families
