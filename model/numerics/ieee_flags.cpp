#include "model/numerics/ieee_flags.hpp"

#include "model/numerics/rounding.hpp"
#include "model/numerics/wide_source.hpp"

namespace mx {
namespace {

bool is_number(const Value& value) { return value.cls == ValueClass::finite || value.cls == ValueClass::zero; }

/// Of values that are no NaN.
bool is_equal(const Value& a, const Value& b) {
  return a.cls == b.cls && a.negative == b.negative && (a.cls != ValueClass::finite || canonical(a) == canonical(b));
}

/// The value rounded to the format's precision as if its exponent had neither top nor bottom.
Value rounded_freely(const Value& value, const Format& format, const Conversion& how, Random random) {
  Format free = format;
  constexpr int kFar = 1 << 20;
  free.bias += kFar;
  Flags unused;
  return rounding::round(value, free, rounding::checked_draw(format, how, random), unused);
}

bool is_below_normal(const Value& value, const Format& format) {
  return value.cls == ValueClass::zero || (value.cls == ValueClass::finite && rounding::top_exponent(value) < rounding::min_exponent(format));
}

bool is_tiny(const Value& value, const Value& delivered, const Format& format, const Conversion& how, Random random) {
  if (format.encoding != Encoding::floating) return false;
  if (how.fine.tininess == Tininess::before) return is_below_normal(value, format);
  if (how.fine.tininess == Tininess::result) return is_below_normal(delivered, format);
  return is_below_normal(rounded_freely(value, format, how, random), format);
}

bool searches(Rounding rounding) { return rounding == Rounding::first_least_distance || rounding == Rounding::first_least_distance_signed; }

/// Whether the number, rounded as if the exponent had no top, is above the largest one.
bool overflows(const Value& value, const Format& format, const Conversion& how, Random random) {
  if (format.encoding == Encoding::exponent_only) return rounding::top_exponent(value) > max_exponent(format);
  Flags unused;
  const Value rounded = searches(how.rounding) ? value : rounding::round(value, format, rounding::checked_draw(format, how, random), unused);
  return rounded.cls == ValueClass::finite && rounding::exceeds(rounded, decode(format, max_finite_code(format)));
}

/// Of a value, no NaN, that gave `code`.
void raise(const Value& before, std::uint32_t code, const Format& format, const Conversion& how, Random random, IeeeFlags& flags) {
  const Value value = rounding::scaled(before, how.before.power);
  const Value delivered = decode(format, code);
  const bool is_exact = is_equal(delivered, value);
  const bool is_ruled = value.cls == ValueClass::infinity && how.fine.overflow_flag == OverflowFlag::infinite_too;
  flags.inexact |= !is_exact || is_ruled;
  flags.overflow |= is_ruled;
  if (value.cls != ValueClass::finite) return;
  const bool by_number = how.fine.overflow_flag != OverflowFlag::not_finite_result;
  flags.overflow |= by_number ? overflows(value, format, how, random) : !is_number(delivered);
  // What wrapped may be tiny, and is no underflow.
  const bool wrapped = how.overflow == Overflow::wrap && overflows(value, format, how, random);
  flags.underflow |= !is_exact && !wrapped && is_number(delivered) && is_tiny(value, delivered, format, how, random);
}

}  // namespace

std::uint32_t flag_bits(const IeeeFlags& flags) {
  return (flags.inexact ? 1U : 0U) | (flags.underflow ? 2U : 0U) | (flags.overflow ? 4U : 0U) | (flags.divide_by_zero ? 8U : 0U) |
         (flags.invalid ? 16U : 0U);
}

std::uint32_t encode_ieee(const Value& value, const Format& format, const Conversion& how, IeeeFlags& flags, Random random) {
  Flags unused;
  const std::uint32_t code = encode(value, format, how, unused, random);
  if (value.cls != ValueClass::nan) raise(value, code, format, how, random, flags);
  return code;
}

std::uint32_t convert_ieee(std::uint64_t bits, const Format& from, const Format& to, const Conversion& how, IeeeFlags& flags, Random random) {
  Flags unused;
  const std::uint32_t code = convert_source(bits, from, to, how, unused, random);
  const Value value = decode_source(from, bits);
  flags.invalid |= is_signalling(bits, from);
  if (value.cls != ValueClass::nan) raise(value, code, to, how, random, flags);
  return code;
}

bool is_signalling(std::uint64_t bits, const Format& format) {
  const bool tells = format.encoding == Encoding::floating && format.specials == Specials::ieee;
  return tells && decode_source(format, bits).cls == ValueClass::nan && ((bits >> (format.mantissa_bits - 1)) & 1U) == 0;
}

}  // namespace mx
