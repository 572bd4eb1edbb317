#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kEmulationLayouts;     ///< memory.cpp
extern const std::span<const NeedTable> kEmulationNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kEmulationClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kEmulationExecutions;   ///< arithmetic.cpp

extern const Family kEmulationFamily;

}  // namespace mx::families
