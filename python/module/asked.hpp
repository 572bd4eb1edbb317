#pragma once
// What a deployment is asked about, by the names of a call's own arguments.

#include "python/module/core.hpp"
#include "verbs/select/asked.hpp"

namespace mx::python {

/// Those that are None are left out. Throws Error(usage) for a size that no deployment has, and a variable that is none of the engine's.
verbs::AskedFor asked_for(const nb::dict& given, const std::optional<std::string>& engine, const std::string& oracle);

}  // namespace mx::python
