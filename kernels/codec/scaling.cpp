#include "kernels/codec/scaling.hpp"

#include <algorithm>
#include <bit>

#include "kernels/codec/element_plan.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kF32Bias = 127;
constexpr std::uint32_t kMantissaBits = 23;
constexpr std::uint32_t kMantissa = 0x007FFFFFU;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kSmallestNormal = 0x00800000U;
/// A logarithm of a normal number is below 2^7, half a unit of it at most 2^-18: rounded to fp32 it becomes a whole number only within a factor of
/// 1 + 2^-18 of a power of two, which are 64 units of a mantissa just above one and 32 just below. Farther away the exponent says it all.
constexpr std::uint32_t kNearPower = 0x100U;

bool is_positive_finite(std::uint32_t f32) { return f32 != 0 && f32 < kInfinity; }

/// Before it becomes a code an element is scaled by one fp32 operation, or exactly by a power of two. That gives fp32's result too: where fp32 cannot
/// hold a product, it lies far below half of the smallest element.
bool is_one_operation(const ElementStep& step) { return !step.flush_subnormals; }

/// A number that is no NaN as a variable of a format holds it; null: of fp32.
std::uint32_t stored(std::uint32_t f32, const Format* width) {
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0, 0, 0, false};
  return width == nullptr ? f32 : to_f32(convert(f32, kF32, *width, kNearest), *width);
}

/// What looks at quotients just below powers of two.
bool doubts(const ElementStep& step) { return (step.half_is_added || step.unit_by_log2) && !fault::planted(fault::Fault::kernel_never_doubts); }

/// What a family of recipes says, before the format's numbers are filled in.
struct Family {
  std::variant<QuotientScale, ExponentScale> scale;
  Conversion encode;
  ZeroSign zeros;
  bool divides;
  bool doubts;
};

std::optional<Family> family(const GroupRecipe& how, const Format& element, const Format&, const TensorScale&) {
  if (!is_one_operation(how.step) || how.step.operation == ElementOperation::exact) return std::nullopt;
  QuotientScale scale{};
  scale.least_amax = fault::planted(fault::Fault::kernel_forgets_floor) ? 0 : how.amax_floor;
  scale.largest = to_f32(max_finite_code(element), element);
  scale.multiplies_amax = !how.divides;
  if (how.rule != GroupRule::group_amax) scale.powers = &how;
  return Family{scale, how.step.encode, how.step.zero_sign, how.step.operation == ElementOperation::divide, doubts(how.step)};
}

std::optional<Family> family(const Fp8Recipe& how, const Format& element, const Format& source, const TensorScale& tensor) {
  const bool rounds_every_step = how.at_source_width && source != kF32;
  if ((rounds_every_step && how.rule != Fp8Scale::max_over_amax) || how.element.overflow != Overflow::saturate) return std::nullopt;
  QuotientScale scale{};
  if (how.rule == Fp8Scale::given) scale.given = tensor.decode;
  scale.width = rounds_every_step ? &source : nullptr;
  scale.least_amax = stored(how.least_amax, scale.width);
  scale.amax_bound = tensor.amax_bound;
  scale.largest = to_f32(max_finite_code(element), element);
  scale.inverts = how.rule == Fp8Scale::max_over_amax;
  scale.least_scale = how.least_scale;
  return Family{scale, how.element, ZeroSign::kept, how.scaling == Fp8Scaling::divide, false};
}

std::optional<Family> family(const MxRecipe& how, const Format&, const Format& source, const TensorScale&) {
  if (!how.elements || how.elements->factor.in_source_type || !is_one_operation(how.elements->step)) return std::nullopt;
  // Without emax elements stay below 2, where nothing overflows.
  const bool overflows = how.scale.rule != ScaleRule::floor_log2_no_emax;
  if (overflows && how.elements->step.encode.overflow != Overflow::saturate) return std::nullopt;
  // A quotient by a power of two is the product with its reciprocal, which fp32 holds for every E8M0 number but NaN.
  return Family{ExponentScale{&how, &source}, how.elements->step.encode, how.elements->step.zero_sign, false, doubts(how.elements->step)};
}

template <class Other>
std::optional<Family> family(const Other&, const Format&, const Format&, const TensorScale&) {
  return std::nullopt;
}

/// The exponent's rule alone, for an amax that is not near a power of two; none where that does not say the scale.
std::optional<std::uint32_t> code_by_exponent(const MxRecipe& how, const Format& element, std::uint32_t amax) {
  const ScaleRule rule = how.scale.rule;
  const bool by_log2 = rule == ScaleRule::floor_log2 || rule == ScaleRule::floor_log2_no_emax;
  const bool is_floor = rule == ScaleRule::floor && how.scale.quotient == AmaxQuotient::exponent_field;
  const bool near_power = by_log2 && (amax & kMantissa) > kMantissa - kNearPower;
  if ((!by_log2 && !is_floor) || near_power || amax < std::max(kSmallestNormal, how.scale.least_amax)) return std::nullopt;
  const std::uint32_t emax = rule == ScaleRule::floor_log2_no_emax ? 0U : static_cast<std::uint32_t>(max_exponent(element));
  const std::uint32_t exponent = amax >> kMantissaBits;
  return exponent > emax ? std::optional(exponent - emax) : std::nullopt;
}

std::optional<Scaling> scaling(const ExponentScale& scale, const ScaledRecipe& recipe, std::uint32_t amax) {
  constexpr std::uint32_t kLargestCode = 254;
  constexpr std::uint32_t kLeastFactor = 0x00400000U;  // 2^-127
  const MxRecipe& how = *scale.how;
  const auto by_exponent = code_by_exponent(how, *recipe.element, amax);
  const std::uint32_t code = by_exponent ? *by_exponent : scale_code(amax, *recipe.element, how.scale, *scale.source);
  const ScaleFactor& factor = how.elements->factor;
  const bool is_exception = (code == 0 && factor.at_0) || (code == kLargestCode && factor.at_254) || code > kLargestCode;
  if (is_exception) return std::nullopt;
  return Scaling{code, code == kLargestCode ? kLeastFactor : (kLargestCode - code) << kMantissaBits};
}

/// The power of two that a rule makes of a scale that is normal and finite; none where its exponent does not say it alone.
std::optional<std::uint32_t> power_of(GroupRule rule, std::uint32_t scale) {
  const std::uint32_t mantissa = scale & kMantissa;
  const bool near_power = rule == GroupRule::group_pow2_log2 && mantissa != 0 && mantissa < kNearPower;
  if (near_power || scale < kSmallestNormal || scale >= 0x7F000000U) return std::nullopt;
  return (scale & ~kMantissa) + (mantissa != 0 ? kSmallestNormal : 0U);
}

std::optional<Scaling> scaling(const QuotientScale& how, const ScaledRecipe& recipe, std::uint32_t amax) {
  const std::uint32_t given_amax = amax;
  amax = std::max(amax, how.least_amax);
  if (how.amax_bound) amax = std::min(amax, *how.amax_bound);
  Scaling out{};
  if (how.inverts) {
    out.factor = stored(f32::div(how.largest, amax), how.width);
    out.scale = f32::div(f32::kOne, out.factor);
  } else {
    out.scale = how.multiplies_amax ? f32::mul(amax, f32::div(f32::kOne, how.largest)) : f32::div(amax, how.largest);
    if (how.powers != nullptr) {
      const auto power = power_of(how.powers->rule, out.scale);
      out.scale = power ? *power : group_scale(given_amax, *recipe.element, *how.powers);
    }
    out.scale = how.given.value_or(std::max(out.scale, how.least_scale));
    out.factor = recipe.plan.divides != 0 ? out.scale : f32::div(f32::kOne, out.scale);
  }
  if (!is_positive_finite(out.scale) || !is_positive_finite(out.factor)) return std::nullopt;
  return out;
}

}  // namespace

std::optional<ScaledRecipe> scaled_recipe(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  const Format& element = *recipe.format->element;
  const ElementSource* const from = find_source(source);
  if (from == nullptr || !takes_source(recipe, source)) return std::nullopt;
  const auto family_of = std::visit([&](const auto& how) { return family(how, element, source, tensor); }, recipe.how);
  if (!family_of) return std::nullopt;
  const auto rounding = rounding_plan(element, family_of->encode, family_of->zeros);
  if (!rounding) return std::nullopt;
  ScaledRecipe out{};
  out.element = &element;
  out.scale = family_of->scale;
  out.plan.source = *from;
  out.plan.divides = family_of->divides ? 1 : 0;
  const auto* const quotient = std::get_if<QuotientScale>(&family_of->scale);
  out.plan.narrows = quotient != nullptr && quotient->width != nullptr ? 1 : 0;
  out.plan.doubts = family_of->doubts ? 1 : 0;
  out.plan.rounding = *rounding;
  if (counts_units(element)) {
    out.plan.units = std::bit_cast<float>((kF32Bias + static_cast<std::uint32_t>(element.mantissa_bits)) << kMantissaBits);
  } else {
    out.plan.half_unit = narrow((kF32Bias - half_unit_offset(element)) << kUpperMantissaBits);
  }
  return out;
}

std::optional<Scaling> scaling_of(const ScaledRecipe& how, std::uint32_t amax) {
  if (amax >= kInfinity) return std::nullopt;
  return std::visit([&](const auto& scale) { return scaling(scale, how, amax); }, how.scale);
}

}  // namespace mx::kernels
