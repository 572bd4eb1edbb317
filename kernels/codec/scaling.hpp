#pragma once
// Recipes whose elements meet one fp32 number per group: how that number follows from the group's largest magnitude.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "kernels/codec/amax_steps.hpp"
#include "kernels/codec/scaled_plan.hpp"
#include "model/numerics/profile.hpp"

namespace mx::kernels {

/// Scales amax / largest. Every step is one fp32 operation of the model, in the order of the members. Numbers are fp32 bits.
struct QuotientScale {
  std::optional<std::uint32_t> given;  ///< the scale, whatever the elements are
  std::uint32_t least_amax;
  std::optional<std::uint32_t> amax_bound;
  std::uint32_t largest;  ///< the format's largest number
  bool multiplies_amax;   ///< amax * RN(1 / largest) instead of amax / largest
  const Format* width;    ///< not null: least_amax and the factor are rounded to this format, as the elements under it are
  bool inverts;           ///< largest / amax is the factor and its reciprocal the scale
  std::uint32_t least_scale;
};

/// Scales as the model's own rule has them, looked up or asked for group by group: for rules that are no steps, of long groups.
struct SteppedScale {
  std::shared_ptr<const AmaxSteps> steps;
};
struct RuledScale {
  AmaxSteps::Rule rule;
  AmaxSteps::Takes takes;
};

struct ScaledRecipe {
  ScaledPlan plan;
  std::variant<QuotientScale, SteppedScale, RuledScale> scale;
};

/// None when the kernels do not know the recipe.
std::optional<ScaledRecipe> scaled_recipe(const Recipe& recipe, const Format& source, const TensorScale& tensor);

/// The scale and what the kernel multiplies or divides by; none for a group that is irregular: an element is no finite number, or the scale or factor
/// is none or 0.
std::optional<BlockScaling> scaling_of(const ScaledRecipe& how, std::uint32_t amax);

/// The same of as many groups, to `scales` and `factors`: 0 and 1 for an irregular one, whose bit is set, counted from that of irregular[0] on.
void scalings_of(const ScaledRecipe& how, std::span<const std::uint32_t> amax, std::uint32_t* scales, std::uint32_t* factors,
                 std::uint64_t* irregular);

}  // namespace mx::kernels
