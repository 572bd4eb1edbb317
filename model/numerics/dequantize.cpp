#include "model/numerics/dequantize.hpp"

#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

std::uint32_t quiet_nan(const Format& format) {
  const std::uint32_t infinity = max_finite_code(format) + 1U;
  return infinity | (1U << (format.mantissa_bits - 1));
}

/// Nearest even with Inf above the range.
Value rounded_to(const Value& value, const Format& format) {
  const Conversion how{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, quiet_nan(format), quiet_nan(format), 0, false};
  Flags flags;
  return decode(format, encode(value, format, how, flags));
}

void check_tensor_scale(const Dequantizer& how, const TensorScale& tensor) {
  const std::string name(how.format->name);
  const auto check = [&](bool given, bool taken, const std::string& what) {
    if (given && !taken) throw Error(ErrorCode::usage, "this dequantizer of " + name + " takes no " + what + " of the tensor");
    if (!given && taken) throw Error(ErrorCode::usage, "this dequantizer of " + name + " needs the " + what + " of the tensor");
  };
  check(tensor.encode.has_value(), how.tensor == TensorUse::divides_scale, "encode scale");
  check(tensor.decode.has_value(), how.tensor == TensorUse::multiplies_scale, "decode scale");
  check(tensor.amax_bound.has_value(), false, "bound on amax");
}

Value read_scale(std::uint32_t scale, const Dequantizer& how) {
  const Format& format = *how.format->scale;
  if (planted(Fault::dequantize_flushes_small_scales) && format == kE8m0 && scale >= 103 && scale <= 112) return decode(kF32, 0);
  const ScaleReading reading = planted(Fault::dequantize_field_is_value) ? ScaleReading::value : how.reading;
  switch (reading) {
    case ScaleReading::value: break;
    case ScaleReading::power:
      return {.significand = 1, .exponent = static_cast<std::int32_t>(scale) - format.bias, .cls = ValueClass::finite, .negative = false};
    case ScaleReading::field: return decode(kF32, scale << kF32.mantissa_bits);
  }
  return decode(format, scale);
}

Value with_tensor_scale(const Value& scale, const Dequantizer& how, const TensorScale& tensor) {
  if (planted(Fault::dequantize_ignores_tensor_scale)) return scale;
  switch (how.tensor) {
    case TensorUse::none: break;
    case TensorUse::divides_scale: return decode(kF32, f32::div(to_f32(scale), *tensor.encode));
    case TensorUse::multiplies_scale: return decode(kF32, f32::mul(to_f32(scale), *tensor.decode));
  }
  return scale;
}

Conversion into_target(const Dequantizer& how) {
  const std::uint32_t largest = max_finite_code(*how.target);
  const bool infinite = how.range == ProductRange::infinite || planted(Fault::dequantize_does_not_clamp);
  const std::uint32_t nan = how.range == ProductRange::clamped_with_nan ? largest : quiet_nan(*how.target);
  return {Rounding::nearest_even, infinite ? Overflow::ieee : Overflow::saturate, NanRule::fixed, nan, nan, 0, false};
}

}  // namespace

std::uint32_t dequantize(std::uint32_t code, std::uint32_t scale, const Dequantizer& how, const TensorScale& tensor) {
  check_tensor_scale(how, tensor);
  if (planted(Fault::dequantize_nan_scale_is_number) && is_nan_code(*how.format->scale, scale)) --scale;
  if (how.nan_scale_wins && is_nan_code(*how.format->scale, scale)) return quiet_nan(*how.target);
  const Format* arithmetic = planted(Fault::dequantize_rounds_late) ? nullptr : how.arithmetic;
  Value factor = with_tensor_scale(read_scale(scale, how), how, tensor);
  if (arithmetic != nullptr) factor = rounded_to(factor, *arithmetic);
  Value element = decode(*how.format->element, code);
  if (how.drops_zero_sign && element.cls == ValueClass::zero) element.negative = false;
  Value product = exact_product(element, factor);
  if (arithmetic != nullptr) product = rounded_to(product, *arithmetic);
  Flags flags;
  if (planted(Fault::dequantize_adds_exponents) && *how.format->scale == kE8m0) {
    const std::uint32_t alone = encode(decode(*how.format->element, code), *how.target, into_target(how), flags);
    return (alone + ((scale - kE8m0.bias) << how.target->mantissa_bits)) & (how.target->width == 32 ? 0xFFFFFFFFU : (1U << how.target->width) - 1U);
  }
  return encode(product, *how.target, into_target(how), flags);
}

}  // namespace mx
