#pragma once
// Every need, of families and of the engine's code around them, in one order, and which of them a choice breaks.

#include <span>
#include <string_view>
#include <vector>

#include "model/families/needs.hpp"

namespace mx::audit {

/// Around the kernel, common to all, of formats, of each family, of checkpoints.
std::span<const families::NeedTable> need_tables();

/// True for the needs of a table that says so.
bool is_around(const families::KernelNeed& need);

/// The needs of one (backend, class) of an oracle, in the order of the tables.
std::vector<const families::KernelNeed*> needs_of(deployment::Engine engine, std::string_view oracle, std::string_view backend,
                                                  std::string_view kernel_class);

/// The needs that a placement breaks, in the order of the tables.
std::vector<const families::KernelNeed*> broken_needs(const families::Placement& placement);

/// The first need that a placement breaks, or null.
const families::KernelNeed* first_broken_need(const families::Placement& placement);

/// The classes that a need is about; none: every class.
std::vector<std::string_view> classes_of(const families::KernelNeed& need);

}  // namespace mx::audit
