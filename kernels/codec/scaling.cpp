#include "kernels/codec/scaling.hpp"

#include <algorithm>

#include "kernels/codec/element_plan.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kF32Bias = 127;
constexpr std::uint32_t kInfinity = 0x7F800000U;

bool is_positive_finite(std::uint32_t f32) { return f32 != 0 && f32 < kInfinity; }

std::optional<ScaledRecipe> family(const GroupRecipe& how, const Format& element, const Format&, const TensorScale&) {
  const bool scales = how.step.operation != ElementOperation::exact && !how.step.flush_subnormals;
  if (how.rule != GroupRule::group_amax || !scales || !is_plain(element, how.step)) return std::nullopt;
  ScaledRecipe out{};
  out.least_amax = fault::planted(fault::Fault::kernel_forgets_floor) ? 0 : how.amax_floor;
  out.multiplies_amax = !how.divides;
  out.plan.divides = how.step.operation == ElementOperation::divide ? 1 : 0;
  out.plan.even = how.step.encode.rounding == Rounding::nearest_even ? 1 : 0;
  out.plan.keeps_zero_sign = how.step.zero_sign == ZeroSign::kept ? 0xFFFFU : 0U;
  return out;
}

std::optional<ScaledRecipe> family(const Fp8Recipe& how, const Format& element, const Format& source, const TensorScale& tensor) {
  const bool rounds_every_step = how.at_source_width && source != kF32;
  if (rounds_every_step || !is_plain(element, how.element) || how.element.overflow != Overflow::saturate) return std::nullopt;
  ScaledRecipe out{};
  if (how.rule == Fp8Scale::given) out.given = tensor.decode;
  out.least_amax = how.least_amax;
  out.amax_bound = tensor.amax_bound;
  out.inverts = how.rule == Fp8Scale::max_over_amax;
  out.least_scale = how.least_scale;
  out.plan.divides = how.scaling == Fp8Scaling::divide ? 1 : 0;
  out.plan.even = how.element.rounding == Rounding::nearest_even ? 1 : 0;
  out.plan.keeps_zero_sign = 0xFFFFU;
  return out;
}

template <class Other>
std::optional<ScaledRecipe> family(const Other&, const Format&, const Format&, const TensorScale&) {
  return std::nullopt;
}

}  // namespace

std::optional<ScaledRecipe> scaled_recipe(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  const Format& element = *recipe.format->element;
  const ElementSource* const from = find_source(source);
  if (from == nullptr || !takes_source(recipe, source) || recipe.format->block_rows != 1) return std::nullopt;
  auto out = std::visit([&](const auto& how) { return family(how, element, source, tensor); }, recipe.how);
  if (!out) return std::nullopt;
  out->largest = to_f32(max_finite_code(element), element);
  out->plan.source = *from;
  out->plan.half_unit = narrow((kF32Bias - half_unit_offset(element)) << kUpperMantissaBits);
  out->plan.largest = largest_above_half_unit(element);
  out->plan.mantissa_bits = narrow(static_cast<std::uint32_t>(element.mantissa_bits));
  out->plan.width = narrow(static_cast<std::uint32_t>(element.width));
  return out;
}

std::optional<Scaling> scaling_of(const ScaledRecipe& how, std::uint32_t amax) {
  if (amax >= kInfinity) return std::nullopt;
  amax = std::max(amax, how.least_amax);
  if (how.amax_bound) amax = std::min(amax, *how.amax_bound);
  Scaling out{};
  if (how.inverts) {
    out.factor = f32::div(how.largest, amax);
    out.scale = f32::div(f32::kOne, out.factor);
  } else {
    out.scale = how.multiplies_amax ? f32::mul(amax, f32::div(f32::kOne, how.largest)) : f32::div(amax, how.largest);
    out.scale = how.given.value_or(std::max(out.scale, how.least_scale));
    out.factor = how.plan.divides != 0 ? out.scale : f32::div(f32::kOne, out.scale);
  }
  if (!is_positive_finite(out.scale) || !is_positive_finite(out.factor)) return std::nullopt;
  return out;
}

}  // namespace mx::kernels
