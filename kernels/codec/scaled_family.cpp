#include "kernels/codec/scaled_family.hpp"

#include <bit>
#include <vector>

#include "model/fault.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kMantissa = 0x007FFFFFU;
constexpr std::uint32_t kE8m0Nan = 0xFFU;
/// Below it a search finds what rounding finds: every distance is exact where it decides. Far above, all distances are one number.
constexpr std::uint32_t kSearchEnd = 0x4B000000U;  // 2^23

bool is_positive_finite(std::uint32_t f32) { return f32 != 0 && f32 < kInfinity; }

/// What a family of recipes says.
struct Said {
  std::optional<QuotientScale> quotient;
  bool is_stepped;
  Conversion encode;
  ZeroSign zeros;
  bool divides;
  bool narrows;  ///< variables of the source's type hold the scaled element
  bool doubts;
  bool finite_products = false;  ///< as in MxElements
  std::uint32_t before = f32::kOne;
  std::uint32_t behind = f32::kOne;
};

/// What looks at quotients just below powers of two.
bool doubts(const ElementStep& step) { return (step.half_is_added || step.unit_by_log2) && !fault::planted(fault::Fault::kernel_never_doubts); }

std::optional<Said> said(const GroupRecipe& how, const Format& element, const Format&, const TensorScale&) {
  if (how.step.flush_subnormals || how.step.operation == ElementOperation::exact || how.step.operation == ElementOperation::divide_full)
    return std::nullopt;
  if (how.scale_in_fp16) return std::nullopt;  // elements meet another number than the scale
  Said out{std::nullopt,    true, how.step.encode, how.step.zero_sign, how.step.operation == ElementOperation::divide, how.step.in_source_type,
           doubts(how.step)};
  if (how.rule != GroupRule::group_amax) return out;
  QuotientScale scale{};
  scale.least_amax = fault::planted(fault::Fault::kernel_forgets_floor) ? 0 : how.amax_floor;
  scale.largest = to_f32(max_finite_code(element), element);
  scale.multiplies_amax = !how.divides;
  scale.least_scale = how.least_scale;
  out.quotient = scale;
  return out;
}

/// The steps of it that are fp32 operations, one after the other; none where there are others.
std::optional<QuotientScale> quotient_of(const Fp8Recipe& how, const Format& element, const Format& source, const TensorScale& tensor) {
  const bool rounds_every_step = how.at_source_width && source != kF32;
  if (rounds_every_step && how.rule != Fp8Scale::max_over_amax) return std::nullopt;
  if (how.rule == Fp8Scale::int8_rescaled) return std::nullopt;
  const bool caps = how.largest_factor != kInfinity;
  if (how.zero_scale_is_epsilon || how.factor_is_power || how.scale_is_power || how.reciprocal_first || how.returns_factor || caps)
    return std::nullopt;
  QuotientScale scale{};
  if (how.rule == Fp8Scale::given) scale.given = tensor.decode;
  scale.width = rounds_every_step ? &source : nullptr;
  scale.least_amax = rounds_every_step ? held_in(source, how.least_amax) : how.least_amax;
  scale.amax_bound = tensor.amax_bound;
  scale.largest = to_f32(max_finite_code(element), element);
  scale.inverts = how.rule == Fp8Scale::max_over_amax;
  scale.least_scale = how.least_scale;
  return scale;
}

std::optional<Said> said(const Fp8Recipe& how, const Format& element, const Format& source, const TensorScale& tensor) {
  if (how.element.overflow != Overflow::saturate || (how.rule == Fp8Scale::given && !tensor.decode)) return std::nullopt;
  return Said{quotient_of(how, element, source, tensor),
              false,
              how.element,
              how.drops_zero_sign ? ZeroSign::lost_before_rounding : ZeroSign::kept,
              how.scaling == Fp8Scaling::divide,
              how.at_source_width || how.quotients_at_source_width,
              false};
}

std::optional<Said> said(const MxRecipe& how, const Format&, const Format&, const TensorScale&) {
  if (!how.elements || how.elements->step.flush_subnormals) return std::nullopt;
  const ElementStep& step = how.elements->step;
  // An exact product gives fp32's result too: where fp32 cannot hold one, it lies far below half of the smallest element.
  return Said{std::nullopt,
              true,
              step.encode,
              step.zero_sign,
              step.operation == ElementOperation::divide,
              step.in_source_type,
              doubts(step),
              how.elements->finite_products};
}

std::optional<Said> said(const Nvfp4Recipe& how, const Format&, const Format&, const TensorScale& tensor) {
  const TensorNeeds needs = tensor_needs(how);
  if ((needs.encode && !tensor.encode) || (needs.decode && !tensor.decode) || how.flush_subnormals) return std::nullopt;
  Said out{std::nullopt, true, how.element, how.drops_zero_sign ? ZeroSign::lost_before_rounding : ZeroSign::kept, false, false, false};
  const std::uint32_t g = fault::planted(fault::Fault::kernel_divides_alone) ? f32::kOne : tensor.encode.value_or(f32::kOne);
  switch (how.multiplier) {
    case Nvfp4Multiplier::reciprocal_of_product:
    case Nvfp4Multiplier::reciprocal_over_scale:
    case Nvfp4Multiplier::reciprocal_of_scale: return out;
    case Nvfp4Multiplier::divided_by_quotient:
    case Nvfp4Multiplier::divided_by_product: out.divides = true; return out;
    case Nvfp4Multiplier::scaled_then_divided: out.before = g; break;
    case Nvfp4Multiplier::divided_then_scaled:
      out.behind = g;
      out.narrows = how.in_source_type;
      break;
    case Nvfp4Multiplier::divided_by_wanted: out.is_stepped = false; break;
  }
  out.divides = true;
  return out;
}

/// Rules without a row are the model's.
std::optional<Said> said(const BlockComposition&, const Format&, const Format&, const TensorScale&) { return std::nullopt; }

/// 1 / x where that is exact.
std::optional<std::uint32_t> exact_reciprocal(std::uint32_t x) {
  if (!is_positive_finite(x) || (x > kMantissa ? (x & kMantissa) != 0 : !std::has_single_bit(x))) return std::nullopt;
  const std::uint32_t reciprocal = f32::div(f32::kOne, x);
  return is_positive_finite(reciprocal) ? std::optional(reciprocal) : std::nullopt;
}

/// The largest element that a group can have, as the kernel's steps scale it; Inf where a step gives none.
std::uint32_t scaled(std::uint32_t amax, std::uint32_t factor, const ScaledFamily& family, const Format& held) {
  const std::uint32_t first = f32::mul(amax, family.before);
  const std::uint32_t second = family.divides ? f32::div(first, factor) : f32::mul(first, factor);
  const std::uint32_t third = family.narrows ? held_in(held, second) : second;
  const bool finite = first < kInfinity && second < kInfinity && third < kInfinity;
  return finite ? f32::mul(third, family.behind) : kInfinity;
}

bool searches(const Conversion& how) {
  return how.rounding == Rounding::first_least_distance || how.rounding == Rounding::first_least_distance_signed;
}

/// Whether the conversion of numbers up to this one is what RoundingPlan says.
bool is_rounded(std::uint32_t largest, const Format& element, const Conversion& how) {
  if (largest >= kInfinity || (searches(how) && largest >= kSearchEnd)) return false;
  if (how.overflow == Overflow::saturate) return true;
  Flags flags;
  convert(largest, kF32, element, how, flags);
  return !flags.overflow;
}

/// Whether the kernel gives the model's codes for a block of zeros, which are the same under every factor.
bool has_kernel_zeros(const Recipe& recipe, const Format& source, const TensorScale& tensor, const RoundingPlan& rounding) {
  const Format& element = *recipe.format->element;
  const std::uint32_t negative = counts_units(element) ? 0U : 1U << (element.width - 1);
  const std::uint32_t sign = 1U << (source.width - 1);
  std::vector<std::uint32_t> zeros(recipe.format->block == 0 ? 2U : static_cast<std::size_t>(recipe.format->block));
  for (std::size_t i = 1; i < zeros.size(); i += 2) zeros[i] = sign;
  const QuantizedBlock block = quantize_block(zeros, source, recipe, tensor);
  const std::uint32_t of_negative = rounding.zeros == ZeroSigns::kept || rounding.zeros == ZeroSigns::all_negative ? negative : 0U;
  return block.codes[0] == (rounding.zeros == ZeroSigns::all_negative ? negative : 0U) && block.codes[1] == of_negative;
}

}  // namespace

std::optional<ScaledFamily> scaled_family(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  const Format& element = *recipe.format->element;
  const auto what = std::visit([&](const auto& how) { return said(how, element, source, tensor); }, recipe.how);
  const auto rounding = what ? rounding_plan(element, what->encode, what->zeros) : std::nullopt;
  if (!rounding) return std::nullopt;
  ScaledFamily out{what->quotient, {},          {}, what->is_stepped, *rounding, what->before, what->divides, what->narrows && source != kF32,
                   what->behind,   what->doubts};
  if (fault::planted(fault::Fault::kernel_forgets_width)) out.narrows = false;
  const bool is_power = !std::holds_alternative<Nvfp4Recipe>(recipe.how) && out.is_stepped && !out.quotient;
  if (is_power) out.divides = false;  // a quotient by a power of two is the product with its reciprocal
  // Numbers of 11 bits are never just below a power of two, nor are their quotients by one.
  if (is_power && source != kF32) out.doubts = false;
  const bool zeros_are_plain = !out.quotient && out.is_stepped && has_kernel_zeros(recipe, source, tensor, *rounding);
  const bool inverts = is_power && what->divides;
  out.rule = [recipe, &source, tensor, inverts, zeros_are_plain](std::uint32_t amax) {
    BlockScaling scaling = block_scaling(amax, source, recipe, tensor);
    if (inverts) scaling.factor = exact_reciprocal(scaling.factor).value_or(0);
    if (amax == 0 && zeros_are_plain) scaling.factor = f32::kOne;
    return scaling;
  };
  const bool has_bytes = *recipe.format->scale == kE8m0;
  const std::uint32_t largest = to_f32(max_finite_code(element), element);
  const bool must_be_finite = what->finite_products;
  const bool zeros_are_taken = zeros_are_plain || !out.is_stepped;
  const ScaledFamily family = out;
  out.takes = [=, &element, &source, encode = what->encode](std::uint32_t amax, const BlockScaling& scaling) {
    if (!is_positive_finite(scaling.factor) || (has_bytes && scaling.scale == kE8m0Nan) || (amax == 0 && !zeros_are_taken)) return false;
    if (must_be_finite && f32::div(largest, scaling.factor) >= kInfinity) return false;
    return is_rounded(scaled(amax, scaling.factor, family, source), element, encode);
  };
  return out;
}

}  // namespace mx::kernels
