#include "model/numerics/value.hpp"

#include <bit>
#include <cassert>

#include "model/fault.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

Value decode_floating(const Format& format, std::uint32_t code) {
  Value value;
  value.negative = format.has_sign && ((code >> (format.width - 1)) & 1U) != 0;
  if (is_nan_code(format, code)) {
    value.cls = ValueClass::nan;
    return value;
  }
  if (is_inf_code(format, code)) {
    value.cls = ValueClass::infinity;
    return value;
  }
  const std::uint32_t mantissa = code & ((1U << format.mantissa_bits) - 1U);
  const std::uint32_t field = (code >> format.mantissa_bits) & ((1U << format.exponent_bits) - 1U);
  if (field == 0 && mantissa == 0) return value;
  value.cls = ValueClass::finite;
  // Subnormals share the exponent of the smallest normal numbers, without the hidden bit.
  const bool subnormal = field == 0;
  const int exponent = subnormal && !planted(Fault::decode_subnormal_shift) ? 1 : static_cast<int>(field);
  value.significand = subnormal ? mantissa : mantissa | (1U << format.mantissa_bits);
  value.exponent = exponent - format.bias - format.mantissa_bits;
  return value;
}

Value decode_exponent(const Format& format, std::uint32_t code) {
  Value value;
  if (is_nan_code(format, code)) {
    value.cls = planted(Fault::e8m0_top_is_infinite) ? ValueClass::infinity : ValueClass::nan;
    return value;
  }
  if (planted(Fault::e8m0_zero_is_zero) && code == 0) return value;
  return {.significand = 1, .exponent = static_cast<std::int32_t>(code) - format.bias, .cls = ValueClass::finite, .negative = false};
}

Value decode_fixed(const Format& format, std::uint32_t code) {
  if (code == 0) return {};
  const bool negative = ((code >> (format.width - 1)) & 1U) != 0;
  const std::uint64_t magnitude = negative ? (std::uint64_t{1} << format.width) - code : code;
  return {.significand = magnitude,
          .exponent = -format.mantissa_bits,
          .cls = ValueClass::finite,
          .negative = negative && !planted(Fault::fixed_point_loses_sign)};
}

}  // namespace

Value decode(const Format& format, std::uint32_t code) {
  assert(format.width == 32 || (code >> format.width) == 0);
  switch (format.encoding) {
    case Encoding::floating: return decode_floating(format, code);
    case Encoding::exponent_only: return decode_exponent(format, code);
    case Encoding::fixed_point: break;
  }
  return decode_fixed(format, code);
}

Value exact_product(const Value& a, const Value& b) {
  const bool negative = a.negative != b.negative;
  const auto either = [&](ValueClass cls) { return a.cls == cls || b.cls == cls; };
  const auto special = [&](ValueClass cls) { return Value{.significand = 0, .exponent = 0, .cls = cls, .negative = negative}; };
  if (either(ValueClass::nan) || (either(ValueClass::infinity) && either(ValueClass::zero))) {
    return {.significand = 0, .exponent = 0, .cls = ValueClass::nan};
  }
  if (either(ValueClass::infinity)) return special(ValueClass::infinity);
  if (either(ValueClass::zero)) return special(ValueClass::zero);
  return {.significand = a.significand * b.significand, .exponent = a.exponent + b.exponent, .cls = ValueClass::finite, .negative = negative};
}

Value canonical(Value value) {
  if (value.cls != ValueClass::finite) return {.significand = 0, .exponent = 0, .cls = value.cls, .negative = value.negative};
  const int zeros = std::countr_zero(value.significand);
  value.significand >>= zeros;
  value.exponent += zeros;
  return value;
}

}  // namespace mx
