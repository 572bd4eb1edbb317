#include "model/numerics/mx_recipe.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kF32Infinity = 0x7F800000U;
constexpr std::uint32_t kF32Mantissa = 0x007FFFFFU;
constexpr std::uint32_t kHalfOfSmallestNormal = 0x00400000U;  // 2^-127
constexpr std::uint32_t kScaleNan = 0xFFU;
constexpr int kLargestScale = 254;

enum class Divisor { power, max_normal, one };
enum class Rounded { no, as_f32, as_source };
enum class Exponent {
  quotient,  ///< that of the quotient as MxScale::quotient makes it
  log2,      ///< the fp32 logarithm, rounded correctly
  exact,     ///< the logarithm itself
};

/// What a rule is made of.
struct Rule {
  ScaleRule value;
  std::string_view name;
  bool up;          ///< the next power of two, else the one below
  Divisor divisor;  ///< 2^emax, max_normal or nothing
  Rounded rounded;  ///< amax is rounded to the element's mantissa first
  Exponent exponent;
  bool unclamped;  ///< the power of two is an fp32 number, with exponents that no byte has
};

// clang-format off
constexpr std::array<Rule, 15> kRules{{
    {ScaleRule::floor, "floor", false, Divisor::power, Rounded::no, Exponent::quotient, false},
    {ScaleRule::ceil, "ceil", true, Divisor::power, Rounded::no, Exponent::quotient, false},
    {ScaleRule::rceil, "rceil", true, Divisor::max_normal, Rounded::no, Exponent::quotient, false},
    {ScaleRule::rceil_rcp, "rceil_rcp", true, Divisor::max_normal, Rounded::no, Exponent::quotient, false},
    {ScaleRule::even, "even", false, Divisor::power, Rounded::as_f32, Exponent::quotient, false},
    {ScaleRule::even_source_width, "even_source_width", false, Divisor::power, Rounded::as_source, Exponent::quotient, false},
    {ScaleRule::floor_log2, "floor_log2", false, Divisor::power, Rounded::no, Exponent::log2, false},
    {ScaleRule::floor_log2_no_emax, "floor_log2_no_emax", false, Divisor::one, Rounded::no, Exponent::log2, false},
    {ScaleRule::floor_log2_ggml, "floor_log2_ggml", false, Divisor::power, Rounded::no, Exponent::log2, false},
    {ScaleRule::floor_log2_unclamped, "floor_log2_unclamped", false, Divisor::power, Rounded::no, Exponent::log2, true},
    {ScaleRule::ceil_log2_unclamped, "ceil_log2_unclamped", true, Divisor::power, Rounded::no, Exponent::log2, true},
    {ScaleRule::rceil_log2, "rceil_log2", true, Divisor::max_normal, Rounded::no, Exponent::log2, false},
    {ScaleRule::floor_log2_quotient, "floor_log2_quotient", false, Divisor::max_normal, Rounded::no, Exponent::log2, false},
    {ScaleRule::ceil_exact, "ceil_exact", true, Divisor::max_normal, Rounded::no, Exponent::exact, false},
    {ScaleRule::even_quark, "even_quark", false, Divisor::power, Rounded::as_f32, Exponent::quotient, false},
}};
// clang-format on

const Rule& rule_of(ScaleRule value) {
  const auto row = std::ranges::find(kRules, value, &Rule::value);
  if (row == kRules.end()) throw Error(ErrorCode::usage, "scale rule " + std::to_string(static_cast<int>(value)) + " has no row");
  return *row;
}

/// Adds half a unit of the element's mantissa and cuts to the power of two below, in the bits of `format`: a carry goes into the exponent, above
/// the largest number it makes Inf, and subnormals become zero unless they carry. Source: AMD Quark even_round; torchao to_mx, EVEN.
std::uint32_t even_power(std::uint32_t amax_f32, const Format& format, int mantissa_bits) {
  constexpr Conversion kExact{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC00000U, 0xFFC00000U, 0, false};
  const std::uint32_t bits = format == kF32 ? amax_f32 : convert(amax_f32, kF32, format, kExact);
  const std::uint32_t half_unit = 1U << (format.mantissa_bits - mantissa_bits - 1);
  const std::uint32_t mantissa = (1U << format.mantissa_bits) - 1U;
  const std::uint32_t sum = planted(Fault::scale_even_loses_carry) ? bits : bits + half_unit;
  return to_f32(sum & ~mantissa, format);
}

/// fp32 bits of the rule's divisor.
std::uint32_t divisor_bits(Divisor divisor, const Format& element) {
  const Value power{.significand = 1, .exponent = max_exponent(element), .cls = ValueClass::finite, .negative = false};
  return divisor == Divisor::max_normal ? to_f32(max_finite_code(element), element) : to_f32(power);
}

bool bumps(std::uint32_t quotient, SubnormalBump rule) {
  const std::uint32_t mantissa = quotient & kF32Mantissa;
  if (planted(Fault::scale_rounds_down)) return false;
  if (quotient > kF32Mantissa || rule == SubnormalBump::any) return mantissa != 0;
  return mantissa > (planted(Fault::scale_bumps_any_subnormal) ? 0U : kHalfOfSmallestNormal);
}

/// floor or ceiling of log2 of a positive finite number, exact or by the logarithm that a variable holds.
int log2_of(std::uint32_t f32, const Rule& rule, const Format& held) {
  if (rule.exponent == Exponent::exact) {
    const Value value = decode(kF32, f32);
    const int below = value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1;
    return below + (rule.up && !std::has_single_bit(value.significand) ? 1 : 0);
  }
  const std::uint32_t log2 = held_in(held, f32::log2(f32));
  return rule.up ? -floor_of(log2 ^ f32::kSign) : floor_of(log2);
}

/// The E8M0 exponent of the rule's power of two, before it is brought into the range of codes; none for a quotient of 0. `amax` is positive and
/// finite.
std::optional<int> exponent_of(std::uint32_t amax, const Format& element, const Rule& rule, const MxScale& scale, const Format& source) {
  const int emax = rule.divisor == Divisor::power ? max_exponent(element) : 0;
  if (rule.exponent != Exponent::quotient && !planted(Fault::scale_log2_from_exponent)) {
    const Format& held = scale.in_source_type ? source : kF32;
    const std::uint32_t of = rule.divisor == Divisor::max_normal ? held_in(held, f32::div(amax, divisor_bits(rule.divisor, element))) : amax;
    if (of == 0) return std::nullopt;
    return log2_of(of, rule, held) + kE8m0.bias - emax;
  }
  if (scale.quotient == AmaxQuotient::exponent_field || planted(Fault::scale_subtracts_exponents)) {
    // The exponent field is floor(log2 amax) + 127; E8M0 has the same bias.
    const std::uint32_t bits = planted(Fault::scale_floor_off_by_one) ? amax + 1U : amax;
    const bool next = rule.up && (bits & kF32Mantissa) != 0 && !planted(Fault::scale_rounds_down);
    return static_cast<int>(bits >> kF32.mantissa_bits) + (next ? 1 : 0) - emax;
  }
  const std::uint32_t divisor = divisor_bits(rule.divisor, element);
  const std::uint32_t quotient = scale.quotient == AmaxQuotient::division ? f32::div(amax, divisor) : f32::mul(amax, f32::div(f32::kOne, divisor));
  const std::uint32_t kept = scale.flush_subnormals ? flushed(quotient) : quotient;
  return static_cast<int>(kept >> kF32.mantissa_bits) + (rule.up && bumps(kept, scale.bump) ? 1 : 0);
}

/// fp32 bits of 2^exponent, rounded to the source's type where the factor is held in it.
std::uint32_t power_bits(int exponent, const ScaleFactor& factor, const Format& source) {
  constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0, 0, 0, false};
  const Value power{.significand = 1, .exponent = exponent, .cls = ValueClass::finite, .negative = false};
  if (!factor.in_source_type) return to_f32(power);
  Flags flags;
  return to_f32(encode(power, source, kNearest, flags), source);
}

/// What the largest magnitude makes of a block.
struct Choice {
  std::uint32_t code;
  std::optional<int> power = std::nullopt;  ///< the exponent that elements meet, where the byte does not say it
  bool infinite = false;                    ///< amax is Inf or rounds to it
};

Choice choose(std::uint32_t amax_f32, const Format& element, const MxScale& scale, const Format& source) {
  const Rule& rule = rule_of(scale.rule);
  std::uint32_t amax = amax_f32 & kMagnitude;
  if (amax > kF32Infinity) return {planted(Fault::scale_nan_is_top) ? static_cast<std::uint32_t>(kLargestScale) : scale.nan_code};
  if (scale.flush_subnormals) amax = flushed(amax);
  amax = std::max(amax, scale.least_amax);
  if (amax == 0) amax = scale.zero_amax;
  if (rule.rounded != Rounded::no && amax != kF32Infinity) {
    amax = even_power(amax, rule.rounded == Rounded::as_source ? source : kF32, scale.mantissa_bits.value_or(element.mantissa_bits));
  }
  if (amax == kF32Infinity) return {.code = planted(Fault::scale_infinite_is_nan) ? kScaleNan : scale.infinite_code, .infinite = true};
  const std::optional<int> exponent = amax == 0 ? std::nullopt : exponent_of(amax, element, rule, scale, source);
  const int power = exponent.value_or(0) - kE8m0.bias;
  const std::uint32_t wrapped = static_cast<std::uint32_t>(exponent.value_or(0)) & kScaleNan;
  if (exponent && (scale.below == BelowBytes::wraps || rule.unclamped)) return {.code = wrapped, .power = power};
  if (exponent.value_or(0) < 0 && scale.below == BelowBytes::wraps_alone) return {wrapped};
  if (exponent.value_or(0) > kLargestScale) return {scale.overflow_code};
  const auto code = exponent ? static_cast<std::uint32_t>(std::max(*exponent, 0)) : scale.zero_code;
  const bool lost = scale.lost_code && held_in(source, power_bits(static_cast<int>(code) - kE8m0.bias, kPlainFactor, kF32)) == 0;
  if (lost) return {*scale.lost_code};
  return {code};
}

/// The scale as its format has it: the byte, or the power of two in fp32.
std::uint32_t scale_bits(const Choice& choice, const BlockFormat& format, const MxScale& scale, const Format& source) {
  if (*format.scale == kE8m0) return choice.code;
  if (choice.code == kScaleNan && !choice.power) return f32::kNan;
  const std::uint32_t power = power_bits(choice.power.value_or(static_cast<int>(choice.code) - kE8m0.bias), kPlainFactor, kF32);
  const std::uint32_t bits = scale.in_source_type ? held_in(source, power) : power;
  return bits == 0 || (!choice.power && choice.code == 0 && scale.lost_power != 0) ? scale.lost_power : bits;
}

std::uint32_t factor_of(const Choice& choice, bool amax_is_nan, const MxElements& elements, const Format& source) {
  const ScaleFactor& factor = planted(Fault::factor_forgets_exceptions) ? kPlainFactor : elements.factor;
  const std::uint32_t code = choice.code;
  if (amax_is_nan && factor.at_nan_amax) return *factor.at_nan_amax;
  if (choice.infinite && factor.at_infinite_amax) return *factor.at_infinite_amax;
  const bool divides = elements.step.operation == ElementOperation::divide;
  if (choice.power) return power_bits(divides ? *choice.power : -*choice.power, factor, source);
  if (code == 0 && factor.at_0) return *factor.at_0;
  if (code == static_cast<std::uint32_t>(kLargestScale) && factor.at_254) return *factor.at_254;
  if (code == kScaleNan) return factor.at_255.value_or(f32::kNan);
  const int exponent = static_cast<int>(code) - kE8m0.bias;
  return power_bits(divides ? exponent : -exponent, factor, source);
}

/// The code, or the largest one below it whose product with the scale is a finite fp32 number.
std::uint32_t with_finite_product(std::uint32_t code, std::uint32_t scale_f32, const Format& element) {
  const std::uint32_t magnitude = magnitude_mask(element);
  while ((code & magnitude) != 0 && (f32::mul(to_f32(code, element), scale_f32) & kMagnitude) >= kF32Infinity) --code;
  return code;
}

}  // namespace

std::string_view name_of(ScaleRule rule) { return rule_of(rule).name; }

ScaleRule scale_rule_named(std::string_view name) { return rows::named(kRules, "scale rule", name).value; }

std::uint32_t scale_code(std::uint32_t amax_f32, const Format& element, const MxScale& scale, const Format& source) {
  return choose(amax_f32, element, scale, source).code;
}

std::uint32_t block_scale(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const MxRecipe& how) {
  const std::vector<std::uint32_t> f32 = widened(x, source, how.sources, format.name);
  return scale_bits(choose(largest_magnitude(f32, how.scale.amax_nan), *format.element, how.scale, source), format, how.scale, source);
}

BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const BlockFormat& format, const MxRecipe& how) {
  const Choice choice = choose(amax_f32, *format.element, how.scale, source);
  const std::uint32_t scale = scale_bits(choice, format, how.scale, source);
  // Where a scale is an fp32 number, it is what elements are divided by.
  return {scale, *format.scale == kF32 ? scale : factor_of(choice, f32::is_nan(amax_f32), *how.elements, source)};
}

QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const MxRecipe& how,
                        const TensorScale& tensor) {
  require_no_tensor_scale(tensor, format.name);
  if (!how.elements) throw Error(ErrorCode::usage, "this recipe for " + std::string(format.name) + " gives scales alone, no codes");
  const std::vector<std::uint32_t> f32 = widened(x, source, how.sources, format.name);
  const BlockScaling scaling = block_scaling(largest_magnitude(f32, how.scale.amax_nan), source, format, how);
  QuantizedBlock block;
  block.scale = scaling.scale;
  block.flags.resize(f32.size());
  if (block.scale == kScaleNan && how.elements->nan_block_code && !planted(Fault::block_forgets_nan_codes)) {
    block.codes.assign(f32.size(), *how.elements->nan_block_code);
    for (std::size_t i = 0; i < f32.size(); ++i) block.flags[i] = {.invalid = true, .nan = f32::is_nan(f32[i])};
    return block;
  }
  block.codes.reserve(f32.size());
  for (std::size_t i = 0; i < f32.size(); ++i) {
    const std::uint32_t code = encode_element(f32[i], scaling.factor, *format.element, how.elements->step, source, block.flags[i]);
    block.codes.push_back(how.elements->finite_products ? with_finite_product(code, scaling.factor, *format.element) : code);
  }
  return block;
}

}  // namespace mx
