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
bool is_one_operation(const ElementStep& step) { return !step.flush_subnormals && !step.in_source_type; }

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
  const bool caps = how.largest_factor != kInfinity;
  if (how.zero_scale_is_epsilon || how.drops_zero_sign || how.factor_is_power || how.returns_factor || caps) return std::nullopt;
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
  if (!follows_byte(how.scale) || how.elements->factor.at_infinite_amax) return std::nullopt;
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

/// The rules by which amax's exponent alone says the scale.
class ExponentRule {
 public:
  ExponentRule(const MxRecipe& how, const Format& element)
      : by_log2_(how.scale.rule == ScaleRule::floor_log2 || how.scale.rule == ScaleRule::floor_log2_no_emax),
        least_amax_(std::max(kSmallestNormal, how.scale.least_amax)),
        emax_(how.scale.rule == ScaleRule::floor_log2_no_emax ? 0U : static_cast<std::uint32_t>(max_exponent(element))) {
    const bool is_floor = how.scale.rule == ScaleRule::floor && how.scale.quotient == AmaxQuotient::exponent_field;
    if (!by_log2_ && !is_floor) least_amax_ = kInfinity;
  }

  /// For an amax that is not near a power of two; none where the exponent does not say the scale.
  std::optional<std::uint32_t> code(std::uint32_t amax) const {
    const bool near_power = by_log2_ && (amax & kMantissa) > kMantissa - kNearPower;
    const std::uint32_t exponent = amax >> kMantissaBits;
    return !near_power && amax >= least_amax_ && exponent > emax_ ? std::optional(exponent - emax_) : std::nullopt;
  }

 private:
  bool by_log2_;
  std::uint32_t least_amax_;
  std::uint32_t emax_;
};

/// What makes a group's scaling of its amax, which is finite.
class ExponentScaling {
 public:
  ExponentScaling(const ExponentScale& scale, const ScaledRecipe& recipe)
      : scale_(scale), element_(*recipe.element), rule_(*scale.how, *recipe.element), factor_(scale.how->elements->factor) {}

  std::optional<Scaling> operator()(std::uint32_t amax) const {
    constexpr std::uint32_t kLargestCode = 254;
    constexpr std::uint32_t kLeastFactor = 0x00400000U;  // 2^-127
    const auto by_exponent = rule_.code(amax);
    const std::uint32_t code = by_exponent ? *by_exponent : scale_code(amax, element_, scale_.how->scale, *scale_.source);
    const bool is_exception = (code == 0 && factor_.at_0) || (code == kLargestCode && factor_.at_254) || code > kLargestCode;
    if (is_exception) return std::nullopt;
    return Scaling{code, code == kLargestCode ? kLeastFactor : (kLargestCode - code) << kMantissaBits};
  }

 private:
  const ExponentScale& scale_;
  const Format& element_;
  ExponentRule rule_;
  const ScaleFactor& factor_;
};

/// The power of two that a rule makes of a scale that is normal and finite; none where its exponent does not say it alone.
std::optional<std::uint32_t> power_of(GroupRule rule, std::uint32_t scale) {
  const std::uint32_t mantissa = scale & kMantissa;
  const bool near_power = rule == GroupRule::group_pow2_log2 && mantissa != 0 && mantissa < kNearPower;
  if (near_power || scale < kSmallestNormal || scale >= 0x7F000000U) return std::nullopt;
  return (scale & ~kMantissa) + (mantissa != 0 ? kSmallestNormal : 0U);
}

/// Of numbers that are not negative, no 0 / 0 and no NaN: f32::div without a call.
std::uint32_t quotient(std::uint32_t a, std::uint32_t b) { return std::bit_cast<std::uint32_t>(std::bit_cast<float>(a) / std::bit_cast<float>(b)); }

class QuotientScaling {
 public:
  QuotientScaling(const QuotientScale& scale, const ScaledRecipe& recipe)
      : how_(scale), recipe_(recipe), reciprocal_(quotient(f32::kOne, scale.largest)) {}

  std::optional<Scaling> operator()(std::uint32_t given_amax) const {
    std::uint32_t amax = std::max(given_amax, how_.least_amax);
    if (how_.amax_bound) amax = std::min(amax, *how_.amax_bound);
    Scaling out{};
    if (how_.inverts) {
      out.factor = quotient(how_.largest, amax);
      if (how_.width != nullptr) out.factor = stored(out.factor, how_.width);
      out.scale = quotient(f32::kOne, out.factor);
    } else {
      out.scale = how_.multiplies_amax ? f32::mul(amax, reciprocal_) : quotient(amax, how_.largest);
      if (how_.powers != nullptr) {
        const auto power = power_of(how_.powers->rule, out.scale);
        out.scale = power ? *power : group_scale(given_amax, *recipe_.element, *how_.powers);
      }
      out.scale = how_.given.value_or(std::max(out.scale, how_.least_scale));
      out.factor = recipe_.plan.divides != 0 ? out.scale : quotient(f32::kOne, out.scale);
    }
    if (!is_positive_finite(out.scale) || !is_positive_finite(out.factor)) return std::nullopt;
    return out;
  }

 private:
  const QuotientScale& how_;
  const ScaledRecipe& recipe_;
  std::uint32_t reciprocal_;  ///< of the largest number
};

QuotientScaling scaling_by(const QuotientScale& scale, const ScaledRecipe& recipe) { return {scale, recipe}; }
ExponentScaling scaling_by(const ExponentScale& scale, const ScaledRecipe& recipe) { return {scale, recipe}; }

}  // namespace

std::optional<ScaledRecipe> scaled_recipe(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  const Format& element = *recipe.format->element;
  const ElementSource* const from = find_source(source);
  // Powers of two as fp32 numbers have exponents that no byte has.
  const bool has_bytes = !std::holds_alternative<MxRecipe>(recipe.how) || *recipe.format->scale == kE8m0;
  if (from == nullptr || !takes_source(recipe, source) || !has_bytes) return std::nullopt;
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
  return std::visit([&](const auto& scale) { return scaling_by(scale, how)(amax); }, how.scale);
}

void scalings_of(const ScaledRecipe& how, std::span<const std::uint32_t> amax, std::uint32_t* scales, std::uint32_t* factors,
                 std::uint64_t* irregular) {
  std::visit(
      [&](const auto& scale) {
        const auto scaling = scaling_by(scale, how);
        for (std::size_t g = 0; g < amax.size(); ++g) {
          const std::optional<Scaling> found = amax[g] < kInfinity ? scaling(amax[g]) : std::nullopt;
          if (!found) irregular[g / 64] |= std::uint64_t{1} << (g % 64);
          scales[g] = found ? found->scale : 0;
          factors[g] = found ? found->factor : f32::kOne;
        }
      },
      how.scale);
}

}  // namespace mx::kernels
