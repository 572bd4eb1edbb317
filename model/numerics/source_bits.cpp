#include "model/numerics/source_bits.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "model/error.hpp"
#include "model/numerics/value.hpp"

namespace mx {
namespace {

/// Sign, exponent field and mantissa of a code, the mantissa of a subnormal moved up until its leading one is hidden.
struct Fields {
  bool negative;
  bool subnormal;  ///< or zero
  int exponent;    ///< as the field of a format without subnormals would count it
  std::uint32_t mantissa;
};

std::uint32_t low_bits(int count) { return (1U << count) - 1U; }

Fields fields_of(std::uint32_t code, const Format& from, const Format& to) {
  const std::uint32_t mantissa = code & low_bits(from.mantissa_bits);
  const int field = static_cast<int>(code >> from.mantissa_bits & low_bits(from.exponent_bits));
  const bool negative = (code >> (from.width - 1) & 1U) != 0;
  if (field != 0) return {negative, false, field, mantissa};
  if (mantissa == 0) return {negative, true, from.bias - to.bias, 0};
  const int up = from.mantissa_bits + 1 - static_cast<int>(std::bit_width(mantissa));
  return {negative, true, 1 - up, mantissa << up & low_bits(from.mantissa_bits)};
}

/// x >> places, 0 beyond the word.
std::uint32_t shifted_down(std::uint32_t x, int places) { return places >= 32 ? 0 : x >> places; }

bool has_fields(const Format& format) { return format.encoding == Encoding::floating && format.has_sign && format.width <= 32; }

bool is_of_float_pkg(const Format& format) { return format.specials == Specials::ieee && format.bias == (1 << (format.exponent_bits - 1)) - 1; }

void check_formats(const Format& from, const Format& to, Rounding rounding) {
  const bool of_float_pkg = is_of_float_pkg(from) && is_of_float_pkg(to) && from.mantissa_bits > to.mantissa_bits;
  const bool fits = rounding == Rounding::float_pkg_nearest ? of_float_pkg : from.width != to.width;
  if (fits && has_fields(from) && has_fields(to)) return;
  throw Error(ErrorCode::usage,
              "rounding '" + std::string(name_of(rounding)) + "' is not defined for " + std::string(from.name) + " -> " + std::string(to.name));
}

std::string hex_text(std::uint32_t code) {
  std::string text = "0x";
  for (int bit = 28; bit >= 0; bit -= 4) text += "0123456789abcdef"[code >> bit & 0xFU];
  return text;
}

std::uint32_t sign_of(bool negative, const Format& to) { return negative ? 1U << (to.width - 1) : 0U; }

/// The low bits of x as a number in two's complement.
int wrapped(int x, int bits) {
  const int range = 1 << bits;
  const int low = x & (range - 1);
  return low >= range / 2 ? low - range : low;
}

/// numeric_std's resize of a signed number: the sign and the low bits stay.
int resized(int x, int bits) {
  const int half = 1 << (bits - 1);
  return (x & (half - 1)) - (x < 0 ? half : 0);
}

/// fraction / 2^places to nearest, ties to even; `places` above 0. `sticky`: more was cut off before.
std::uint32_t nearest(std::uint32_t fraction, int places, bool sticky) {
  const std::uint32_t kept = fraction >> places, rest = fraction & low_bits(places), half = 1U << (places - 1);
  return kept + (rest > half || (rest == half && (sticky || (kept & 1U) != 0)) ? 1U : 0U);
}

/// A finite number but zero, by float_pkg's steps. Its exponents count from -1: a field f is the exponent f - bias - 1.
std::optional<std::uint32_t> resized_number(std::uint32_t code, const Format& from, const Format& to) {
  const std::uint32_t mantissa = code & low_bits(from.mantissa_bits);
  const int field = static_cast<int>(code >> from.mantissa_bits & low_bits(from.exponent_bits));
  const std::uint32_t sign = sign_of((code >> (from.width - 1) & 1U) != 0, to);
  const std::uint32_t infinity = low_bits(to.exponent_bits) << to.mantissa_bits;
  std::uint32_t fraction = field == 0 ? mantissa : mantissa | 1U << from.mantissa_bits;
  const int exponent = field == 0 ? -from.bias : field - from.bias - 1;
  int down = static_cast<int>(std::bit_width(fraction)) - 1 - from.mantissa_bits;
  const int bits = to.exponent_bits + 2;
  int result = wrapped(resized(exponent, bits) + down, bits);
  if (result < -to.bias - 1 - to.mantissa_bits) return sign;
  if (result >= to.bias) return sign | infinity;
  if (result <= -to.bias - 1) {
    result = -to.bias - 1;
    down = -(exponent + to.bias);
  }
  if (down - 1 > from.mantissa_bits) return std::nullopt;
  const bool sticky = down > 0 && (fraction & low_bits(down)) != 0;
  fraction = down < 0 ? fraction << -down & low_bits(from.mantissa_bits + 1) : fraction >> down;
  const std::uint32_t rounded = nearest(fraction & low_bits(from.mantissa_bits), from.mantissa_bits - to.mantissa_bits, sticky);
  const auto exponent_field = static_cast<std::uint32_t>(result + to.bias + 1);
  return sign | ((exponent_field << to.mantissa_bits) + rounded);
}

/// None where the simulation ends.
std::optional<std::uint32_t> resized_bits(std::uint32_t code, const Format& from, const Format& to) {
  const Value value = decode(from, code);
  const std::uint32_t infinity = low_bits(to.exponent_bits) << to.mantissa_bits;
  switch (value.cls) {
    case ValueClass::nan: return infinity | 1U;
    case ValueClass::infinity: return infinity | sign_of(value.negative, to);
    case ValueClass::zero: return 0U;
    case ValueClass::finite: break;
  }
  return resized_number(code, from, to);
}

std::uint32_t interpreted_bits(std::uint32_t code, const Format& from, const Format& to, Rounding rounding) {
  const Fields in = fields_of(code, from, to);
  const int exponent = std::clamp(in.exponent - from.bias + to.bias, 0, static_cast<int>(low_bits(to.exponent_bits)));
  const int cut = from.mantissa_bits - to.mantissa_bits;
  std::uint32_t mantissa = cut < 0 ? in.mantissa << -cut : in.mantissa >> cut;
  if (cut > 0 && rounding == Rounding::interpreter_nearest) mantissa += in.mantissa >> (cut - 1) & 1U;
  if (exponent == 0 && !in.subnormal) {
    const int down = 1 - to.bias - (in.exponent - from.bias);
    mantissa = shifted_down(mantissa, down) | shifted_down(1U << to.mantissa_bits, down);
  }
  return sign_of(in.negative, to) | static_cast<std::uint32_t>(exponent) << to.mantissa_bits | mantissa;
}

}  // namespace

std::uint32_t moved_bits(std::uint32_t code, const Format& from, const Format& to, Rounding rounding, Flags& flags) {
  check_formats(from, to, rounding);
  const std::optional<std::uint32_t> result =
      rounding == Rounding::float_pkg_nearest ? resized_bits(code, from, to) : interpreted_bits(code, from, to, rounding);
  if (!result)
    throw Error(ErrorCode::usage, "rounding '" + std::string(name_of(rounding)) + "': float_pkg's RESIZE ends the simulation at code " +
                                      hex_text(code) + " of " + std::string(from.name) + " -> " + std::string(to.name));
  const Value before = decode(from, code);
  const Value after = decode(to, *result);
  flags.nan |= before.cls == ValueClass::nan;
  flags.inexact |= before.cls != ValueClass::nan && canonical(before) != canonical(after);
  return *result;
}

bool has_no_answer(std::uint32_t code, const Format& from, const Format& to, Rounding rounding) {
  if (rounding != Rounding::float_pkg_nearest) return false;
  check_formats(from, to, rounding);
  return !resized_bits(code, from, to).has_value();
}

}  // namespace mx
