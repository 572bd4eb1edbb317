#include "model/numerics/source_bits.hpp"

#include <algorithm>
#include <bit>
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

}  // namespace

std::uint32_t moved_bits(std::uint32_t code, const Format& from, const Format& to, Rounding rounding, Flags& flags) {
  if (!has_fields(from) || !has_fields(to) || from.width == to.width) {
    throw Error(ErrorCode::usage,
                "rounding '" + std::string(name_of(rounding)) + "' is not defined for " + std::string(from.name) + " -> " + std::string(to.name));
  }
  const Fields in = fields_of(code, from, to);
  const int exponent = std::clamp(in.exponent - from.bias + to.bias, 0, static_cast<int>(low_bits(to.exponent_bits)));
  const int cut = from.mantissa_bits - to.mantissa_bits;
  std::uint32_t mantissa = cut < 0 ? in.mantissa << -cut : in.mantissa >> cut;
  if (cut > 0 && rounding == Rounding::interpreter_nearest) mantissa += in.mantissa >> (cut - 1) & 1U;
  if (exponent == 0 && !in.subnormal) {
    const int down = 1 - to.bias - (in.exponent - from.bias);
    mantissa = shifted_down(mantissa, down) | shifted_down(1U << to.mantissa_bits, down);
  }
  const std::uint32_t sign = in.negative ? 1U << (to.width - 1) : 0U;
  const std::uint32_t result = sign | static_cast<std::uint32_t>(exponent) << to.mantissa_bits | mantissa;
  const Value before = decode(from, code);
  const Value after = decode(to, result);
  flags.nan |= before.cls == ValueClass::nan;
  flags.inexact |= before.cls != ValueClass::nan && canonical(before) != canonical(after);
  return result;
}

}  // namespace mx
