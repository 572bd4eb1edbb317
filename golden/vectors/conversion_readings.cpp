// Decoders that read the fields of a code otherwise.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/conversion_rules.hpp"

namespace mx::golden {
namespace {

/// The fields of a code.
struct Fields {
  bool negative;
  std::uint32_t exponent, mantissa;
  std::uint32_t magnitude;  ///< both
};

Fields fields_of(std::uint32_t code, const Format& from) {
  const std::uint32_t sign = from.has_sign ? 1U << (from.width - 1) : 0U;
  const std::uint32_t magnitude = code & ~sign;
  return {(code & sign) != 0, magnitude >> from.mantissa_bits, magnitude & ((1U << from.mantissa_bits) - 1U), magnitude};
}

Value value_of(std::uint64_t significand, int exponent, bool negative) {
  return significand == 0 ? Value{0, 0, ValueClass::zero, negative} : Value{significand, exponent, ValueClass::finite, negative};
}

std::uint64_t hidden_bit(const Format& from) { return std::uint64_t{1} << from.mantissa_bits; }

bool is_subnormal(const Fields& fields) { return fields.exponent == 0 && fields.mantissa != 0; }

/// The number with that exponent in place of the one that its field stands for; subnormal ones have the exponent of the smallest normal ones.
Value with_exponent(const Fields& fields, const Format& from, int exponent) {
  const bool has_hidden = from.encoding == Encoding::exponent_only || fields.exponent != 0;
  return value_of(has_hidden ? hidden_bit(from) + fields.mantissa : fields.mantissa, exponent - from.mantissa_bits, fields.negative);
}

/// The least field of a number with a hidden bit.
int least_field(const Format& from) { return from.encoding == Encoding::exponent_only ? 0 : 1; }

using Change = std::optional<Value>;

Change positive(const Fields& fields, const Value& value, const Format& /*from*/) {
  if (!fields.negative) return std::nullopt;
  return Value{value.significand, value.exponent, value.cls, false};
}
Change subnormal_doubled(const Fields& fields, const Value& value, const Format& /*from*/) {
  return is_subnormal(fields) ? Change(value_of(value.significand, value.exponent + 1, value.negative)) : std::nullopt;
}
Change subnormal_halved(const Fields& fields, const Value& value, const Format& /*from*/) {
  return is_subnormal(fields) ? Change(value_of(value.significand, value.exponent - 1, value.negative)) : std::nullopt;
}
Change subnormal_as_normal(const Fields& fields, const Value& /*value*/, const Format& from) {
  if (!is_subnormal(fields)) return std::nullopt;
  return value_of(hidden_bit(from) + fields.mantissa, -from.bias - from.mantissa_bits, fields.negative);
}
Change subnormal_and_zero_as_normal(const Fields& fields, const Value& /*value*/, const Format& from) {
  if (fields.exponent != 0) return std::nullopt;
  return value_of(hidden_bit(from) + fields.mantissa, -from.bias - from.mantissa_bits, fields.negative);
}
Change subnormal_with_hidden_bit(const Fields& fields, const Value& /*value*/, const Format& from) {
  if (!is_subnormal(fields)) return std::nullopt;
  return value_of(hidden_bit(from) + fields.mantissa, 1 - from.bias - from.mantissa_bits, fields.negative);
}
Change without_bias(const Fields& fields, const Value& /*value*/, const Format& from) {
  return with_exponent(fields, from, std::max(static_cast<int>(fields.exponent), least_field(from)));
}
Change bias_too_large(const Fields& fields, const Value& /*value*/, const Format& from) {
  return with_exponent(fields, from, std::max(static_cast<int>(fields.exponent), least_field(from)) - from.bias - 1);
}
Change bias_too_small(const Fields& fields, const Value& /*value*/, const Format& from) {
  return with_exponent(fields, from, std::max(static_cast<int>(fields.exponent), least_field(from)) - from.bias + 1);
}
Change signed_exponent(const Fields& fields, const Value& /*value*/, const Format& from) {
  const int half = 1 << (from.exponent_bits - 1);
  const int field = static_cast<int>(fields.exponent);
  return with_exponent(fields, from, field >= half ? field - 2 * half : field);
}
Change top_is_ieee(const Fields& fields, const Format& from, bool infinity, bool keeps_sign) {
  if (fields.exponent != (1U << from.exponent_bits) - 1U) return std::nullopt;
  if (fields.mantissa != 0) return Value{0, 0, ValueClass::nan, keeps_sign && fields.negative};
  return infinity ? Change(Value{0, 0, ValueClass::infinity, fields.negative}) : std::nullopt;
}
Change top_is_nan(const Fields& fields, const Value& /*value*/, const Format& from) { return top_is_ieee(fields, from, false, true); }
Change top_is_positive_nan(const Fields& fields, const Value& /*value*/, const Format& from) { return top_is_ieee(fields, from, false, false); }
Change top_is_special(const Fields& fields, const Value& /*value*/, const Format& from) { return top_is_ieee(fields, from, true, true); }
Change top_is_positive_special(const Fields& fields, const Value& /*value*/, const Format& from) { return top_is_ieee(fields, from, true, false); }
Change top_is_all_nan(const Fields& fields, const Value& /*value*/, const Format& from) {
  return fields.exponent == (1U << from.exponent_bits) - 1U ? Change(Value{0, 0, ValueClass::nan, fields.negative}) : std::nullopt;
}
Change nan_is_a_number(const Fields& fields, const Value& value, const Format& from) {
  if (value.cls != ValueClass::nan) return std::nullopt;
  return with_exponent(fields, from, std::max(static_cast<int>(fields.exponent), least_field(from)) - from.bias);
}
std::uint32_t whole(const Fields& fields, const Format& from) { return fields.magnitude | (fields.negative ? 1U << (from.width - 1) : 0U); }
Change as_integer(const Fields& fields, const Value& /*value*/, const Format& from) { return value_of(whole(fields, from), 0, false); }
Change as_signed_integer(const Fields& fields, const Value& /*value*/, const Format& from) {
  const std::int64_t code = whole(fields, from);
  const bool negative = (code >> (from.width - 1)) != 0;
  return value_of(static_cast<std::uint64_t>(negative ? (std::int64_t{1} << from.width) - code : code), 0, negative);
}
Change as_sign_and_integer(const Fields& fields, const Value& /*value*/, const Format& /*from*/) {
  return value_of(fields.magnitude, 0, fields.negative);
}
Change smallest_is_zero(const Fields& fields, const Value& /*value*/, const Format& from) {
  return whole(fields, from) == 0 ? Change(Value{}) : std::nullopt;
}
Change infinity_as(const Value& value, ValueClass cls, bool keeps_sign) {
  return value.cls == ValueClass::infinity ? Change(Value{0, 0, cls, keeps_sign && value.negative}) : std::nullopt;
}
Change infinity_is_nan(const Fields& /*fields*/, const Value& value, const Format& /*from*/) { return infinity_as(value, ValueClass::nan, true); }
Change infinity_is_positive_nan(const Fields& /*fields*/, const Value& value, const Format& /*from*/) {
  return infinity_as(value, ValueClass::nan, false);
}
Change infinity_is_zero(const Fields& /*fields*/, const Value& value, const Format& /*from*/) { return infinity_as(value, ValueClass::zero, true); }
Change infinity_is_positive_zero(const Fields& /*fields*/, const Value& value, const Format& /*from*/) {
  return infinity_as(value, ValueClass::zero, false);
}
Change infinity_loses_sign(const Fields& /*fields*/, const Value& value, const Format& /*from*/) {
  return infinity_as(value, ValueClass::infinity, false);
}
Change infinity_is_a_number(const Fields& fields, const Value& value, const Format& from) {
  if (value.cls != ValueClass::infinity) return std::nullopt;
  return with_exponent(fields, from, static_cast<int>(fields.exponent) - from.bias);
}
Change nan_is_infinite(const Fields& /*fields*/, const Value& value, const Format& /*from*/) {
  return value.cls == ValueClass::nan ? Change(Value{0, 0, ValueClass::infinity, false}) : std::nullopt;
}

/// The rule of a device that hands out the code, moved up by some bits.
WrongRule bits_handed_on(std::string name, const Format& to, int shift) {
  return {FaultClass::value, std::move(name), [=](Lanes operands, Lanes right, MutableLanes answer) {
            std::ranges::copy(right, answer.begin());
            answer[0] = operands[0] << static_cast<unsigned>(shift) & static_cast<std::uint32_t>((std::uint64_t{1} << to.width) - 1);
          }};
}


/// Which formats a reading is one of. The top exponent of `full` ones holds numbers, that of `ieee` ones Inf and NaN.
enum class Of { any, floating, exponent_only, signed_floating, full, signed_full, ieee };

bool is_of(const Format& from, Of of) {
  switch (of) {
    case Of::any: return true;
    case Of::floating: return from.encoding == Encoding::floating;
    case Of::exponent_only: return from.encoding == Encoding::exponent_only;
    case Of::signed_floating: return from.encoding == Encoding::floating && from.has_sign;
    case Of::full: return from.encoding == Encoding::floating && from.specials != Specials::ieee;
    case Of::signed_full: return is_of(from, Of::full) && from.has_sign;
    case Of::ieee: return from.encoding == Encoding::floating && from.specials == Specials::ieee;
  }
  return false;
}

/// One way to read a code. Where NaN has a code, a reading of numbers is tried with NaN kept and with its code read like the others.
struct Reading {
  FaultClass cls;
  std::string_view name;
  Of of;
  bool of_numbers;
  Change (*change)(const Fields& fields, const Value& value, const Format& from);
};

// clang-format off
constexpr std::array kReadings{
    Reading{FaultClass::sign, "negative codes are read as positive ones", Of::any, false, positive},
    Reading{FaultClass::subnormal, "subnormals are decoded with the exponent of normals", Of::floating, false, subnormal_as_normal},
    Reading{FaultClass::subnormal, "subnormals and zero are decoded with the exponent of normals", Of::floating, false, subnormal_and_zero_as_normal},
    Reading{FaultClass::subnormal, "subnormals are decoded with the hidden bit of normals", Of::floating, false, subnormal_with_hidden_bit},
    Reading{FaultClass::subnormal, "subnormals are read as twice their value", Of::floating, false, subnormal_doubled},
    Reading{FaultClass::subnormal, "subnormals are read as half their value", Of::floating, false, subnormal_halved},
    Reading{FaultClass::scale, "code 0 is zero instead of the smallest power", Of::exponent_only, false, smallest_is_zero},
    Reading{FaultClass::nan, "infinity gives NaN", Of::ieee, false, infinity_is_nan},
    Reading{FaultClass::nan, "infinity gives NaN, without its sign", Of::ieee, false, infinity_is_positive_nan},
    Reading{FaultClass::saturation, "infinity gives 0", Of::ieee, false, infinity_is_zero},
    Reading{FaultClass::saturation, "infinity gives 0, without its sign", Of::ieee, false, infinity_is_positive_zero},
    Reading{FaultClass::saturation, "infinity is read as a number, the next power of two", Of::floating, false, infinity_is_a_number},
    Reading{FaultClass::sign, "infinity loses its sign", Of::signed_floating, false, infinity_loses_sign},
    Reading{FaultClass::nan, "the NaN code is infinity", Of::exponent_only, false, nan_is_infinite},
    Reading{FaultClass::nan, "the NaN code is read as a number", Of::any, false, nan_is_a_number},
    Reading{FaultClass::nan, "the top exponent is reserved for NaN, but for mantissa 0", Of::full, false, top_is_nan},
    Reading{FaultClass::nan, "the top exponent is reserved for NaN, without its sign, but for mantissa 0", Of::signed_full, false, top_is_positive_nan},
    Reading{FaultClass::nan, "the top exponent is reserved for Inf and NaN, as in IEEE 754", Of::full, false, top_is_special},
    Reading{FaultClass::nan, "the top exponent is reserved for Inf and NaN, without its sign, as in IEEE 754", Of::signed_full, false, top_is_positive_special},
    Reading{FaultClass::nan, "the top exponent is reserved for NaN", Of::full, false, top_is_all_nan},
    Reading{FaultClass::scale, "the exponent is read without its bias", Of::any, true, without_bias},
    Reading{FaultClass::scale, "the exponent is read as a signed number without bias", Of::any, true, signed_exponent},
    Reading{FaultClass::scale, "the bias is one too large", Of::any, true, bias_too_large},
    Reading{FaultClass::scale, "the bias is one too small", Of::any, true, bias_too_small},
    Reading{FaultClass::value, "the code is read as an integer", Of::any, true, as_integer},
    Reading{FaultClass::value, "the code is read as an integer in two's complement", Of::any, true, as_signed_integer},
    Reading{FaultClass::value, "the code is read as a sign and an integer", Of::signed_floating, true, as_sign_and_integer},
};
// clang-format on

}  // namespace

std::vector<OtherReading> other_readings(const Format& from) {
  std::vector<OtherReading> others;
  for (const Reading& reading : kReadings) {
    if (!is_of(from, reading.of)) continue;
    for (const bool with_nan : {false, true}) {
      if (from.encoding == Encoding::fixed_point || (with_nan && !(reading.of_numbers && has_nan(from)))) continue;
      others.push_back({reading.of == Of::ieee, reading.cls, fmt::format("{}{}", reading.name, with_nan ? ", NaN too" : ""),
                        [=, from = from](std::uint32_t code, const Value& value) -> std::optional<Value> {
                          if (reading.of_numbers && !with_nan && value.cls == ValueClass::nan) return std::nullopt;
                          return reading.change(fields_of(code, from), value, from);
                        }});
    }
  }
  for (const Format& other : all_formats()) {
    if (other == from || other.width != from.width) continue;
    others.push_back({false, FaultClass::dialect, fmt::format("codes are read as {}", other.name),
                      [other](std::uint32_t code, const Value&) { return std::optional(decode(other, code)); }});
  }
  return others;
}

void add_readings(const ConversionSubject& subject, std::vector<WrongRule>& rules) {
  const Format& from = *subject.from;
  const Format& to = *subject.to;
  if (from.width < to.width && to.encoding == Encoding::floating) {
    // The simplest rules there are, and no reading of a number: the bits are handed on.
    const int exponent = from.encoding == Encoding::exponent_only && from.width == to.exponent_bits ? to.mantissa_bits : 0;
    rules.push_back(bits_handed_on("the answer is the code's own bits", to, 0));
    if (exponent > 0) rules.push_back(bits_handed_on("the code is put into the exponent as it is", to, exponent));
  }
  for (OtherReading& reading : other_readings(*subject.from)) {
    if (!reading.of_infinities) rules.push_back(changed_value(reading.cls, std::move(reading.name), subject, std::move(reading.change)));
  }
}

}  // namespace mx::golden
