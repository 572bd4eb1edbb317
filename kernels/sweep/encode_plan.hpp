#pragma once
// Plans of conversions from fp32. For .cpp files of this folder.

#include <variant>

#include "kernels/sweep/encode_numbers.hpp"
#include "model/numerics/convert.hpp"

namespace mx::kernels::sweep {

/// No fast way: the model has to do it.
using Plan = std::variant<std::monostate, FloatingPlan, PowerPlan>;

/// The plan of a conversion from fp32; std::monostate where there is no fast way.
Plan plan_for(const Format& to, const Conversion& how);

}  // namespace mx::kernels::sweep
