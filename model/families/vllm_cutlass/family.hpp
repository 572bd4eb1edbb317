#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const BackendLayout> kVllmCutlassLayouts;     ///< memory.cpp
extern const std::span<const NeedTable> kVllmCutlassNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kVllmCutlassClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kVllmCutlassExecutions;   ///< arithmetic.cpp

extern const Family kVllmCutlassFamily;

}  // namespace mx::families
