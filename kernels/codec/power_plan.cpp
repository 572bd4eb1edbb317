// Which recipes are made of powers of two, and their numbers for the kernels.

#include <algorithm>
#include <vector>

#include "kernels/codec/element_plan.hpp"
#include "kernels/codec/plans.hpp"
#include "model/fault.hpp"
#include "model/numerics/convert.hpp"

namespace mx::kernels {
namespace {

using fault::Fault;
using fault::planted;

/// A subnormal fp32 element is below half of any format's smallest one when the scale byte is at least this: 2^-126 * 2^(127 - 32) < 2^-17.
constexpr std::uint32_t kLeastScale = 32;
/// The factor 2^(127 - scale) is a normal fp32 number.
constexpr std::uint32_t kLargestScale = 253;

/// From which mantissa of amax on (upper half, rounded to odd) the scale is one more than the difference of the exponents says.
std::optional<std::uint32_t> step_of(ScaleRule rule, const Format& element) {
  constexpr std::uint32_t kNever = kUpperMantissa + 1U;
  const std::uint32_t largest = to_f32(max_finite_code(element), element) >> kLowHalf;
  switch (rule) {
    case ScaleRule::floor: return kNever;
    case ScaleRule::ceil: return 1U;
    case ScaleRule::rceil:
    case ScaleRule::rceil_rcp: return (largest & kUpperMantissa) + 1U;
    case ScaleRule::even:
    case ScaleRule::even_source_width: return kNever - (1U << (static_cast<int>(kUpperMantissaBits) - element.mantissa_bits - 1));
    default: break;
  }
  return std::nullopt;
}

/// What a recipe says about blocks of powers of two.
struct PowerRecipe {
  std::uint32_t step;        ///< step_of
  std::uint32_t least_amax;  ///< fp32 bits
  std::uint32_t amax_from;   ///< fp32 bits: smaller ones are left to the model
  std::uint32_t amax_to;     ///< fp32 bits: larger ones too
  ElementStep element;
};

/// Where a rule rounds amax in the source's own type, or holds the factor in it, fp16 ends earlier: 2^-14 is its smallest normal number, and
/// 2^15 * 1.5 rounds to no more than its largest one.
constexpr std::uint32_t kFp16From = 0x38800000U;
constexpr std::uint32_t kFp16To = 0x47400000U;
constexpr std::uint32_t kLargestF32 = 0x7F7FFFFFU;
/// What is rounded may become Inf above it.
constexpr std::uint32_t kBelowTopBinade = 0x7EFFFFFFU;

/// Steps that look at the quotient's fp32 bits, which these kernels do not have.
bool looks_at_quotient(const ElementStep& step) {
  return step.zero_sign == ZeroSign::lost_before_rounding || step.half_is_added || step.unit_by_log2;
}

bool rounds_amax(ScaleRule rule) { return rule == ScaleRule::even || rule == ScaleRule::even_source_width; }

std::optional<PowerRecipe> power_recipe(const MxRecipe& how, const Format& element, const Format& source) {
  const auto step = step_of(how.scale.rule, element);
  if (!how.elements || !step || how.scale.least_amax != 0 || how.scale.zero_amax != 0 || how.scale.mantissa_bits) return std::nullopt;
  if (!follows_byte(how.scale) || how.elements->step.in_source_type || how.elements->factor.at_infinite_amax) return std::nullopt;
  const bool saturates = how.elements->step.encode.overflow == Overflow::saturate;
  if (!saturates) return std::nullopt;
  const bool ends_early = source == kFp16 && (how.scale.rule == ScaleRule::even_source_width || how.elements->factor.in_source_type);
  const std::uint32_t last = rounds_amax(how.scale.rule) ? kBelowTopBinade : kLargestF32;
  return PowerRecipe{*step, 0, ends_early ? kFp16From : 0U, ends_early ? kFp16To : last, how.elements->step};
}

std::optional<PowerRecipe> power_recipe(const GroupRecipe& how, const Format& element, const Format&) {
  if (how.rule != GroupRule::group_pow2_bits || how.least_scale != 0 || how.scale_in_fp16) return std::nullopt;
  return PowerRecipe{*step_of(ScaleRule::rceil, element), how.amax_floor, 0, kLargestF32, how.step};
}

template <class Other>
std::optional<PowerRecipe> power_recipe(const Other&, const Format&, const Format&) {
  return std::nullopt;
}

/// Upper half of fp32 bits, rounded to odd.
std::uint32_t upper_half(std::uint32_t f32) { return f32 >> kLowHalf | ((f32 & 0xFFFFU) != 0 ? 1U : 0U); }

/// Whether a block of zeros of both signs gives zero codes, with their sign where the recipe keeps it, as the model has it; and its scale.
void look_at_zeros(const Recipe& recipe, const Format& source, PowerPlan& plan) {
  std::vector<std::uint32_t> zeros(plan.block);
  const std::uint32_t sign = 1U << (source.width - 1);
  for (std::size_t i = 1; i < zeros.size(); i += 2) zeros[i] = sign;
  const QuantizedBlock block = quantize_block(zeros, source, recipe);
  const std::uint32_t negative = plan.rounding.zeros == ZeroSigns::kept ? 1U << (plan.rounding.width - 1) : 0U;
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    if (block.codes[i] != (zeros[i] == 0 ? 0U : negative)) return;
  }
  if (*recipe.format->scale != kE8m0) return;
  plan.zero_is_regular = 0xFFFFU;
  plan.zero_scale = narrow(block.scale);
}

}  // namespace

std::optional<PowerPlan> power_plan(const Recipe& recipe, const Format& source) {
  const BlockFormat& format = *recipe.format;
  const Format& element = *format.element;
  const ElementSource* const from = find_source(source);
  if (from == nullptr || !takes_source(recipe, source) || counts_units(element) || format.block_rows != 1 ||
      (format.block != 32 && format.block != 128)) {
    return std::nullopt;
  }
  const auto how = std::visit([&](const auto& family) { return power_recipe(family, element, source); }, recipe.how);
  if (!how || looks_at_quotient(how->element)) return std::nullopt;
  const auto rounding = rounding_plan(element, how->element.encode, how->element.zero_sign);
  if (!rounding || (rounding->zeros != ZeroSigns::kept && rounding->zeros != ZeroSigns::dropped)) return std::nullopt;

  const auto emax = static_cast<std::uint32_t>(max_exponent(element));
  PowerPlan plan{};
  plan.source = *from;
  plan.block = static_cast<std::uint32_t>(format.block);
  plan.least_amax = narrow(upper_half(how->least_amax));
  const std::uint32_t first = std::max(upper_half(how->amax_from), (kLeastScale + emax) << kUpperMantissaBits);
  const std::uint32_t last = std::min(how->amax_to >> kLowHalf, ((kLargestScale + emax) << kUpperMantissaBits) - 1U);
  plan.amax_from = narrow(first);
  plan.amax_span = narrow(last - first);
  plan.scale_addend = narrow(kUpperMantissa + 1U - how->step);
  plan.scale_offset = narrow(emax);
  plan.half_unit_offset = narrow(half_unit_offset(element));
  plan.rounding = *rounding;
  if (planted(Fault::kernel_ties_toward_zero)) plan.rounding.even = 0;
  look_at_zeros(recipe, source, plan);
  return plan;
}

}  // namespace mx::kernels
