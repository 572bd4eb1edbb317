#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const NeedTable> kTritonMoeNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kTritonMoeClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kTritonMoeExecutions;   ///< arithmetic.cpp

extern const Family kTritonMoeFamily;

}  // namespace mx::families
