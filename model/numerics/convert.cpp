#include "model/numerics/convert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <string>

#include "model/fault.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::array<rows::Word<Rounding>, 12> kRoundings{{
    {Rounding::nearest_even, "nearest_even"},
    {Rounding::nearest_away, "nearest_away"},
    {Rounding::nearest_toward_zero, "nearest_toward_zero"},
    {Rounding::toward_zero, "toward_zero"},
    {Rounding::toward_positive, "toward_positive"},
    {Rounding::toward_negative, "toward_negative"},
    {Rounding::magnitude_up, "magnitude_up"},
    {Rounding::nearest_up, "nearest_up"},
    {Rounding::stochastic_floor, "stochastic_floor"},
    {Rounding::stochastic_odd, "stochastic_odd"},
    {Rounding::stochastic_nearest, "stochastic_nearest"},
    {Rounding::stochastic_add, "stochastic_add"},
}};

constexpr std::array<rows::Word<Overflow>, 6> kOverflows{{
    {Overflow::saturate, "saturate"},
    {Overflow::nan, "nan"},
    {Overflow::inf, "inf"},
    {Overflow::nan_unrounded, "nan_unrounded"},
    {Overflow::inf_unrounded, "inf_unrounded"},
    {Overflow::ieee, "ieee"},
}};

bool has_inf(const Format& format) { return format.specials == Specials::ieee; }
bool has_nan(const Format& format) { return format.specials != Specials::none; }

std::uint32_t sign_bit(const Format& format) { return format.has_sign ? 1U << (format.width - 1) : 0U; }

[[noreturn]] void refuse(std::string_view what, const Format& format) {
  throw Error(ErrorCode::usage, std::string(what) + " is not defined for " + std::string(format.name));
}

void check(const Format& format, const Conversion& how) {
  const bool needs_nan = how.overflow == Overflow::nan || how.overflow == Overflow::nan_unrounded;
  const bool needs_inf = how.overflow == Overflow::inf || how.overflow == Overflow::inf_unrounded || how.overflow == Overflow::ieee;
  if ((needs_nan && !has_nan(format)) || (needs_inf && !has_inf(format))) refuse("overflow '" + std::string(name_of(how.overflow)) + "'", format);
  if (how.nan_rule != NanRule::fixed && format.specials != Specials::ieee) refuse("a NaN with payload", format);
}

/// floor(log2 |value|) of a finite value.
int top_exponent(const Value& value) { return value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1; }

/// Smallest exponent of a normal number: magnitudes below 2^this are tiny.
int min_exponent(const Format& format) { return format.encoding == Encoding::exponent_only ? -format.bias : 1 - format.bias; }

/// Exponent of the grid's unit around `value`.
int unit_exponent(const Value& value, const Format& format) {
  if (format.encoding == Encoding::fixed_point) return -format.mantissa_bits;
  return std::max(top_exponent(value), min_exponent(format)) - format.mantissa_bits;
}

/// What rounding drops, against half a unit.
struct Dropped {
  bool any;
  bool above_half;
  bool half;
};

Dropped dropped_bits(std::uint64_t significand, int shift) {
  // Beyond 64 places everything is below half a unit.
  if (shift > 64) return {.any = true, .above_half = false, .half = false};
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rest = shift == 64 ? significand : significand & ((half << 1) - 1U);
  if (planted(Fault::encode_drops_sticky)) return {.any = rest != 0, .above_half = false, .half = rest >= half};
  return {.any = rest != 0, .above_half = rest > half, .half = rest == half};
}

/// Whether the magnitude goes up to the next grid point.
bool goes_up(const Dropped& dropped, bool odd, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even: return dropped.above_half || (dropped.half && (odd || planted(Fault::encode_ties_away)));
    case Rounding::nearest_away:
    case Rounding::nearest_up: return dropped.above_half || dropped.half;
    case Rounding::nearest_toward_zero: return dropped.above_half;
    case Rounding::toward_zero: return false;
    case Rounding::toward_positive: return dropped.any && !negative;
    case Rounding::toward_negative: return dropped.any && negative;
    default: break;
  }
  return dropped.any;
}

bool magnitude_exceeds(const Value& value, const Value& limit) {
  if (value.cls != ValueClass::finite) return value.cls == ValueClass::infinity;
  if (top_exponent(value) != top_exponent(limit)) return top_exponent(value) > top_exponent(limit);
  // The same binade: with both top bits in bit 63 the significands compare as they are.
  return (value.significand << std::countl_zero(value.significand)) > (limit.significand << std::countl_zero(limit.significand));
}

/// E8M0 has no zero: what is below its smallest power of two becomes that power.
Value round_to_power(const Value& value, const Format& format, Rounding rounding, Flags& flags) {
  const int least = min_exponent(format);
  const int top = top_exponent(value);
  const bool is_power = std::has_single_bit(value.significand);
  Value rounded{.significand = 1, .exponent = least, .cls = ValueClass::finite, .negative = value.negative};
  if (top >= least) {
    const int shift = top - value.exponent;
    const Dropped dropped = is_power ? Dropped{} : dropped_bits(value.significand, shift);
    // One bit of precision: the significand is odd always, so a tie to even goes up (IEEE 754-2019 section 4.3.1).
    bool up = goes_up(dropped, true, value.negative, rounding);
    // There is no midpoint in the lowest binade of torch's and ml_dtypes' conversion.
    if (rounding == Rounding::nearest_up && top == least) up = dropped.any;
    rounded.exponent = top + (up ? 1 : 0);
  }
  flags.inexact |= !is_power || top < least;
  flags.underflow |= top < least;
  return rounded;
}

std::uint32_t magnitude_code(const Value& rounded, const Format& format) {
  const int top = top_exponent(rounded);
  if (format.encoding == Encoding::exponent_only) return static_cast<std::uint32_t>(top + format.bias);
  const bool subnormal = format.encoding == Encoding::fixed_point || top < min_exponent(format);
  const int unit = unit_exponent(rounded, format);
  const Value exact = canonical(rounded);
  const std::uint64_t units = exact.significand << (exact.exponent - unit);
  if (subnormal) return static_cast<std::uint32_t>(units);
  // Adding the field to the significand with its hidden bit counts that bit into the exponent.
  return static_cast<std::uint32_t>(units) + (static_cast<std::uint32_t>(top + format.bias - 1) << format.mantissa_bits);
}

std::uint32_t with_sign(std::uint32_t magnitude, bool negative, const Format& format) {
  if (!negative || !format.has_sign) return magnitude;
  if (format.encoding == Encoding::fixed_point) return (0U - magnitude) & ((1U << format.width) - 1U);
  const bool one_zero = format.specials == Specials::nan_negative_zero;
  if (magnitude == 0 && (one_zero || planted(Fault::encode_drops_zero_sign))) return 0;
  return magnitude | sign_bit(format);
}

std::uint32_t inf_code(const Format& format) { return max_finite_code(format) + 1U; }

/// The NaN that stands for an overflow: quiet, with the sign where the format has signed NaNs.
std::uint32_t overflow_nan(bool negative, const Format& format) {
  switch (format.specials) {
    case Specials::nan_negative_zero: return sign_bit(format);
    case Specials::nan_top_code: return max_finite_code(format) + 1U;
    case Specials::ieee: return (inf_code(format) | (1U << (format.mantissa_bits - 1))) | (negative ? sign_bit(format) : 0U);
    case Specials::nan_all_ones:
    case Specials::none: break;
  }
  return (max_finite_code(format) + 1U) | (negative ? sign_bit(format) : 0U);
}

/// IEEE 754 section 7.4: a directed rounding overflows to Inf in its own direction only.
bool overflows_to_inf(bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_zero: return false;
    case Rounding::toward_positive: return !negative;
    case Rounding::toward_negative: return negative;
    default: return true;
  }
}

std::uint32_t overflow_code(const Value& value, const Format& format, const Conversion& how, Flags& flags) {
  const bool infinite = value.cls == ValueClass::infinity;
  bool clamps = how.overflow == Overflow::saturate;
  if (how.overflow == Overflow::ieee && !infinite) clamps = !overflows_to_inf(value.negative, how.rounding);
  flags.overflow |= !infinite;
  flags.inexact |= !infinite;
  flags.invalid |= infinite && !has_inf(format);
  flags.saturated |= clamps;
  if (clamps) return with_sign(max_finite_code(format), value.negative, format);
  if (how.overflow == Overflow::nan || how.overflow == Overflow::nan_unrounded) return overflow_nan(value.negative, format);
  return with_sign(inf_code(format), value.negative, format);
}

/// A NaN's code; `payload` holds the source's mantissa with its top bit in bit 31.
std::uint32_t nan_code(bool negative, std::uint32_t payload, const Format& format, const Conversion& how, Flags& flags) {
  flags.invalid |= !has_nan(format);
  if (how.nan_rule == NanRule::fixed) return negative ? how.nan_negative : how.nan_positive;
  const std::uint32_t head = (negative ? sign_bit(format) : 0U) | inf_code(format);
  const std::uint32_t kept = payload >> (32 - format.mantissa_bits);
  if (how.nan_rule == NanRule::quiet_payload) return head | kept | (1U << (format.mantissa_bits - 1));
  return head | (kept == 0 ? 1U : kept);
}

std::uint32_t zero_code(const Value& value, const Format& format, const Conversion& how, Flags& flags) {
  if (format.encoding != Encoding::exponent_only) return with_sign(0, value.negative, format);
  const bool is_nan = is_nan_code(format, how.zero_code);
  flags.invalid |= is_nan;
  flags.inexact |= !is_nan;
  return how.zero_code;
}

/// The limit above which a magnitude overflows.
Value overflow_limit(const Format& format) {
  const std::uint32_t top = max_finite_code(format);
  // As if the top exponent were kept for Inf and NaN, which E4M3 and the FNUZ formats do not do.
  if (planted(Fault::encode_saturates_low) && format.specials != Specials::ieee && format.encoding == Encoding::floating) {
    return decode(format, (top >> format.mantissa_bits << format.mantissa_bits) - 1U);
  }
  return decode(format, top);
}

}  // namespace

std::string_view name_of(Rounding rounding) { return rows::word_of<Rounding>(kRoundings, rounding); }
std::string_view name_of(Overflow overflow) { return rows::word_of<Overflow>(kOverflows, overflow); }
Rounding rounding_named(std::string_view name) { return rows::named(kRoundings, "rounding", name).value; }
Overflow overflow_named(std::string_view name) { return rows::named(kOverflows, "overflow rule", name).value; }

Value round_to(const Value& value, const Format& format, Rounding rounding, Flags& flags) {
  assert(value.cls == ValueClass::zero || value.cls == ValueClass::finite);
  const bool powers_only = rounding == Rounding::magnitude_up || rounding == Rounding::nearest_up;
  if (powers_only && format.encoding != Encoding::exponent_only) refuse("rounding '" + std::string(name_of(rounding)) + "'", format);
  if (value.cls == ValueClass::zero) return value;
  if (format.encoding == Encoding::exponent_only) return round_to_power(value, format, rounding, flags);
  const int unit = unit_exponent(value, format);
  const int shift = unit - value.exponent;
  if (shift <= 0) return value;
  const Dropped dropped = dropped_bits(value.significand, shift);
  std::uint64_t kept = shift >= 64 ? 0 : value.significand >> shift;
  if (goes_up(dropped, (kept & 1U) != 0, value.negative, rounding)) {
    ++kept;
    // The mantissa wraps to zero and the exponent stays.
    if (planted(Fault::encode_loses_carry) && kept == std::uint64_t{2} << format.mantissa_bits) kept >>= 1;
  }
  flags.inexact |= dropped.any;
  flags.underflow |= dropped.any && format.encoding == Encoding::floating && top_exponent(value) < min_exponent(format);
  if (kept == 0) return {.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = value.negative};
  return {.significand = kept, .exponent = unit, .cls = ValueClass::finite, .negative = value.negative};
}

std::uint32_t encode(const Value& value, const Format& format, const Conversion& how, Flags& flags, Random /*random*/) {
  check(format, how);
  if (value.cls == ValueClass::nan) return nan_code(value.negative, 0, format, how, flags);
  if (value.cls == ValueClass::zero) return zero_code(value, format, how, flags);
  if (value.negative && !format.has_sign && how.negative_is_nan) {
    flags.invalid = true;
    return overflow_nan(true, format);
  }
  flags.inexact |= value.negative && !format.has_sign;  // the sign is lost
  const Value limit = overflow_limit(format);
  const bool unrounded = how.overflow == Overflow::nan_unrounded || how.overflow == Overflow::inf_unrounded;
  if (value.cls == ValueClass::infinity || (unrounded && magnitude_exceeds(value, limit))) return overflow_code(value, format, how, flags);
  const Value rounded = round_to(value, format, how.rounding, flags);
  if (rounded.cls == ValueClass::zero) return with_sign(0, rounded.negative, format);
  if (magnitude_exceeds(rounded, limit)) return overflow_code(rounded, format, how, flags);
  return with_sign(magnitude_code(rounded, format), rounded.negative, format);
}

std::uint32_t convert(std::uint32_t code, const Format& from, const Format& to, const Conversion& how, Flags& flags, Random random) {
  const Value value = decode(from, code);
  if (value.cls != ValueClass::nan || how.nan_rule == NanRule::fixed) return encode(value, to, how, flags, random);
  check(to, how);
  const std::uint32_t payload = from.mantissa_bits == 0 ? 0U : code << (32 - from.mantissa_bits);
  return nan_code(value.negative, payload, to, how, flags);
}

std::uint32_t convert(std::uint32_t code, const Format& from, const Format& to, const Conversion& how) {
  Flags flags;
  return convert(code, from, to, how, flags);
}

std::uint32_t to_f32(const Value& value) {
  constexpr Conversion kToF32{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC00000U, 0xFFC00000U, 0, false};
  Flags flags;
  return encode(value, kF32, kToF32, flags);
}

std::uint32_t to_f32(std::uint32_t code, const Format& from) { return to_f32(decode(from, code)); }

}  // namespace mx
