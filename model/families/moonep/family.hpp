#pragma once
// The tables of this family, each in a file of its own, and the record that lists them.

#include "model/families/family.hpp"

namespace mx::families {

extern const std::span<const NeedTable> kMoonepNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kMoonepClasses;  ///< needs.cpp

extern const Family kMoonepFamily;

}  // namespace mx::families
