#include "model/numerics/fp8_recipe.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/fault.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::array<rows::Word<Fp8Scale>, 4> kScaleRules{{
    {Fp8Scale::given, "given"},
    {Fp8Scale::amax_over_max, "amax_div_max"},
    {Fp8Scale::max_over_amax, "max_div_amax"},
    {Fp8Scale::int8_rescaled, "int8_rescaled"},
}};

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kSmallestNormal = 0x00800000U;
constexpr std::uint32_t kTwo = 0x40000000U;
constexpr std::uint32_t k127 = 0x42FE0000U;

void require_positive_finite(std::optional<std::uint32_t> bits, const std::string& rule, std::string_view what) {
  if (!bits || (*bits != 0 && *bits < kInfinity)) return;
  throw Error(ErrorCode::usage,
              rule + ": the " + std::string(what) + " has the fp32 bits " + f32::text(*bits) + ", which are no positive finite number");
}

void check_tensor_scale(const Fp8Recipe& how, const TensorScale& tensor) {
  const std::string rule = "scale rule '" + std::string(name_of(how.rule)) + "'";
  const bool takes = tensor_needs(how).decode;
  if (tensor.encode) throw Error(ErrorCode::usage, rule + " takes no encode scale of the tensor");
  if (tensor.decode && !takes) throw Error(ErrorCode::usage, rule + " takes no scale of the tensor");
  if (tensor.amax_bound && !how.takes_amax_bound) throw Error(ErrorCode::usage, rule + " takes no bound on amax");
  if (takes && !tensor.decode) throw Error(ErrorCode::usage, rule + " needs the scale of the tensor");
  require_positive_finite(tensor.decode, rule, "scale of the tensor");
  require_positive_finite(tensor.amax_bound, rule, "bound on amax");
}

/// The steps of one recipe on one source format.
class Steps {
 public:
  Steps(const Fp8Recipe& how, const Format& source) : how_(how), source_(source) {}

  std::uint32_t div(std::uint32_t a, std::uint32_t b) const { return stored(nan_signed(f32::div(a, b), a, b)); }
  std::uint32_t mul(std::uint32_t a, std::uint32_t b) const { return stored(nan_signed(f32::mul(a, b), a, b)); }
  /// A number as a variable of the source's type holds it.
  std::uint32_t stored(std::uint32_t f32) const {
    if (!how_.at_source_width || source_ == kF32 || f32::is_nan(f32)) return f32;
    constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0, 0, 0, false};
    return to_f32(convert(f32, kF32, source_, kNearest), source_);
  }

  /// The distance from 1 to the next number of the source's type.
  std::uint32_t epsilon() const {
    return to_f32(Value{.significand = 1, .exponent = -source_.mantissa_bits, .cls = ValueClass::finite, .negative = false});
  }

 private:
  /// A NaN keeps the sign of the first operand that is one; an invalid operation makes the processor's own.
  std::uint32_t nan_signed(std::uint32_t result, std::uint32_t a, std::uint32_t b) const {
    if (!f32::is_nan(result)) return result;
    bool negative = how_.invalid_nan_is_negative;
    if (f32::is_nan(b)) negative = (b & f32::kSign) != 0;
    if (f32::is_nan(a)) negative = (a & f32::kSign) != 0;
    return negative ? f32::kNan | f32::kSign : f32::kNan;
  }

  const Fp8Recipe& how_;
  const Format& source_;
};

std::uint32_t largest_magnitude(std::span<const std::uint32_t> f32, bool ignores_nan) {
  std::uint32_t amax = 0;
  for (std::uint32_t bits : f32) {
    if (!(ignores_nan && f32::is_nan(bits))) amax = f32::max(amax, bits & ~f32::kSign);
  }
  return amax;
}

std::uint32_t at_least(std::uint32_t f32, std::uint32_t least) { return f32::less(f32, least) ? least : f32; }

/// 2^floor(log2 x), the logarithm rounded to fp32; what is no positive finite number as it is.
std::uint32_t power_below(std::uint32_t f32) {
  if (f32 == 0 || f32 >= kInfinity) return f32;
  const int exponent = floor_of(f32::log2(f32));
  return to_f32(Value{.significand = 1, .exponent = exponent, .cls = ValueClass::finite, .negative = false});
}

/// 2^ceil(log2 x) of x and no less than 2^-126, the logarithm rounded to fp32; Inf and NaN become NaN, E8M0's.
std::uint32_t power_above(std::uint32_t f32) {
  if (f32 >= kInfinity) return f32::kNan;
  const int exponent = -floor_of(f32::log2(at_least(f32, kSmallestNormal)) ^ f32::kSign);
  return to_f32(Value{.significand = 1, .exponent = exponent, .cls = ValueClass::finite, .negative = false});
}

/// A scale of integers to +-127, which are 1 where it would be subnormal, made one of numbers to `max` the wrong way round.
std::uint32_t int8_rescaled(std::uint32_t amax, std::uint32_t max, const Steps& steps) {
  const std::uint32_t of_int8 = steps.div(amax, k127);
  const std::uint32_t taken = f32::less(of_int8, kSmallestNormal) ? f32::kOne : of_int8;
  return steps.div(steps.mul(taken, max), k127);
}

/// `largest` is the largest magnitude.
BlockScaling scaling_of(std::uint32_t largest, const Format& element, const Fp8Recipe& how, const TensorScale& tensor, const Steps& steps) {
  const auto with_operand = [&](std::uint32_t scale) {
    return BlockScaling{scale, how.scaling == Fp8Scaling::divide ? scale : steps.div(f32::kOne, scale)};
  };
  if (how.rule == Fp8Scale::given) return with_operand(*tensor.decode);
  const std::uint32_t max = to_f32(max_finite_code(element), element);
  std::uint32_t amax = at_least(largest, steps.stored(how.least_amax));
  if (tensor.amax_bound && f32::less(*tensor.amax_bound, amax)) amax = *tensor.amax_bound;
  if (how.rule == Fp8Scale::max_over_amax) {
    std::uint32_t operand = how.reciprocal_first ? steps.mul(steps.div(f32::kOne, amax), max) : steps.div(max, amax);
    if (f32::less(how.largest_factor, operand)) operand = how.largest_factor;
    if (how.factor_is_power) operand = power_below(operand);
    if (how.unit_factor_at_zero && !f32::less(0, amax)) operand = f32::kOne;
    if (!how.scale_is_power) return {how.returns_factor ? operand : f32::div(f32::kOne, operand), operand};
    const std::uint32_t scale = power_above(f32::div(f32::kOne, operand));
    return {scale, f32::div(f32::kOne, scale)};
  }
  std::uint32_t scale = how.rule == Fp8Scale::int8_rescaled ? int8_rescaled(amax, max, steps) : steps.div(amax, max);
  if (scale == 0 && how.zero_scale_is_epsilon) scale = steps.epsilon();
  return with_operand(planted(Fault::fp8_scale_floor_lost) ? scale : at_least(scale, how.least_scale));
}

}  // namespace

std::string_view name_of(Fp8Scale rule) { return rows::word_of<Fp8Scale>(kScaleRules, rule); }

TensorNeeds tensor_needs(const Fp8Recipe& how) { return {.decode = how.rule == Fp8Scale::given}; }

BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const BlockFormat& format, const Fp8Recipe& how, const TensorScale& tensor) {
  check_tensor_scale(how, tensor);
  return scaling_of(amax_f32, *format.element, how, tensor, Steps(how, source));
}

QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const Fp8Recipe& how,
                        const TensorScale& tensor) {
  check_tensor_scale(how, tensor);
  const std::vector<std::uint32_t> f32 = widened(x, source, how.sources, format.name);
  const Steps steps(how, source);
  const Format& element = *format.element;
  const BlockScaling scaling = scaling_of(largest_magnitude(f32, how.amax_ignores_nan), element, how, tensor, steps);
  QuantizedBlock block{scaling.scale, {}, std::vector<Flags>(f32.size())};
  block.codes.reserve(f32.size());
  const bool divides = (how.scaling == Fp8Scaling::divide) != planted(Fault::fp8_divides_by_reciprocal);
  for (std::size_t i = 0; i < f32.size(); ++i) {
    std::uint32_t scaled = divides ? steps.div(f32[i], scaling.factor) : steps.mul(f32[i], scaling.factor);
    if (how.quotients_at_source_width) scaled = held_in(source, scaled);
    if (how.drops_zero_sign && (scaled & ~f32::kSign) == 0) scaled = 0;
    block.codes.push_back(convert(scaled, kF32, element, how.element, block.flags[i]));
  }
  return block;
}

FnuzWeight e4m3fn_to_e4m3fnuz(std::uint32_t code, std::uint32_t scale_f32) {
  constexpr std::uint32_t kNegativeZero = 0x80U;
  const std::uint32_t factor = planted(Fault::fnuz_scale_not_doubled) ? f32::kOne : kTwo;
  return {code == kNegativeZero ? 0U : code, f32::mul(scale_f32, factor)};
}

}  // namespace mx
