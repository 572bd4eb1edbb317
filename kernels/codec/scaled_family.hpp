#pragma once
// What a recipe says about groups whose elements meet one fp32 number, before a kernel's numbers are filled in. For .cpp files of this folder.

#include <cstdint>
#include <optional>

#include "kernels/codec/element_plan.hpp"
#include "kernels/codec/scaling.hpp"

namespace mx::kernels {

struct ScaledFamily {
  std::optional<QuotientScale> quotient;  ///< what is faster than the rule
  AmaxSteps::Rule rule;                   ///< what the kernel multiplies or divides by, and the scale
  AmaxSteps::Takes takes;
  bool is_stepped;  ///< the rule is a step function
  RoundingPlan rounding;
  std::uint32_t before;  ///< fp32 bits, as in ScaledPlan
  bool divides;
  bool narrows;
  std::uint32_t behind;  ///< fp32 bits
  bool doubts;
};

/// None when the kernels do not know the recipe.
std::optional<ScaledFamily> scaled_family(const Recipe& recipe, const Format& source, const TensorScale& tensor);

}  // namespace mx::kernels
