#pragma once
// Every need, of families and of the engine's code around them, in one order, and which of them a choice breaks.

#include <span>
#include <string_view>
#include <vector>

#include "model/families/needs.hpp"

namespace mx::oracle {

/// Around the kernel, common to all, of formats, of each family, of checkpoints.
std::span<const NeedTable> need_tables();

/// True for the needs of a table that says so.
bool is_around(const KernelNeed& need);

/// The needs of one (backend, class) of an oracle, in the order of the tables.
std::vector<const KernelNeed*> needs_of(Engine engine, std::string_view oracle, std::string_view backend, std::string_view kernel_class);

/// The needs that a placement breaks, in the order of the tables.
std::vector<const KernelNeed*> broken_needs(const Placement& placement);

/// The first need that a placement breaks, or null.
const KernelNeed* first_broken_need(const Placement& placement);

/// The classes that a need is about; none: every class.
std::vector<std::string_view> classes_of(const KernelNeed& need);

}  // namespace mx::oracle
