#include "golden/vectors/distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "golden/vectors/conversion_op.hpp"
#include "model/numerics/wide.hpp"

namespace mx::golden {
namespace {

bool is_number(const Value& value) { return value.cls == ValueClass::finite || value.cls == ValueClass::zero; }

/// Exponent of the unit in the last place of the format around a number.
int last_place(const Value& value, const Format& format) {
  const Value largest = decode(format, max_finite_code(format));
  // The number nearest to zero lies in the lowest binade.
  const Value least = decode(format, format.encoding == Encoding::exponent_only ? 0U : 1U);
  const int unit = place_on_grid(value.cls == ValueClass::zero ? least : value, format).unit;
  return std::min(unit, place_on_grid(largest, format).unit);
}

/// Whether more bits lie between the first one of both numbers and the last than a difference keeps.
bool is_cut(const Value& a, const Value& b) {
  if (a.cls == ValueClass::zero || b.cls == ValueClass::zero) return false;
  constexpr int kKept = 63;  // a carry is one more
  const auto top = [](const Value& v) { return v.exponent + static_cast<int>(std::bit_width(v.significand)); };
  return std::max(top(a), top(b)) - std::min(canonical(a).exponent, canonical(b).exponent) > kKept;
}

}  // namespace

std::optional<Value> exact_result(Operation operation, Lanes codes, std::span<const Format* const> from) {
  const auto operand = [&](std::size_t i) { return decode(*from[i], codes[i]); };
  switch (operation) {
    case Operation::add: return wide::add(operand(0), operand(1));
    case Operation::subtract: return wide::sub(operand(0), operand(1));
    case Operation::multiply: return wide::mul(operand(0), operand(1));
    case Operation::fma: return wide::add(wide::mul(operand(0), operand(1)), operand(2));
    case Operation::divide: return wide::div(operand(0), operand(1));
    case Operation::square_root: return wide::sqrt(operand(0));
    case Operation::minimum:
    case Operation::minimum_number: return wide::min(operand(0), operand(1));
    case Operation::maximum:
    case Operation::maximum_number: return wide::max(operand(0), operand(1));
    default: return std::nullopt;
  }
}

std::string exact_text(const Value& value) {
  const std::string sign = value.negative ? "-" : "";
  switch (value.cls) {
    case ValueClass::zero: return sign + "0";
    case ValueClass::infinity: return sign + "inf";
    case ValueClass::nan: return sign + "nan";
    case ValueClass::finite: break;
  }
  constexpr int kDouble = 53;
  const bool fits = static_cast<int>(std::bit_width(value.significand)) - std::countr_zero(value.significand) <= kDouble;
  return fmt::format("{}{}{}", fits ? "" : "about ", sign, std::ldexp(static_cast<double>(value.significand), value.exponent));
}

std::optional<std::string> distance_text(std::uint32_t code, const Value& exact, const Format& format) {
  const Value value = decode(format, code);
  if (!is_number(value) || !is_number(exact)) return std::nullopt;
  Value distance = wide::sub(value, exact);
  distance.negative = false;
  if (distance.cls == ValueClass::finite) distance.exponent -= last_place(exact, format);
  const std::string text = exact_text(distance);
  return (is_cut(value, exact) && !text.starts_with("about ") ? "about " : "") + text + " ulp";
}

}  // namespace mx::golden
