#include "model/numerics/convert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "model/fault.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rounding.hpp"
#include "model/numerics/rows.hpp"
#include "model/numerics/source_bits.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;
using rounding::checked_draw;
using rounding::Draw;
using rounding::exceeds;
using rounding::is_subnormal;
using rounding::min_exponent;
using rounding::overflows_to_inf;
using rounding::scaled;
using rounding::top_exponent;
using rounding::unit_exponent;

constexpr std::array<rows::Word<Rounding>, 22> kRoundings{{
    {Rounding::nearest_even, "nearest_even"},
    {Rounding::nearest_away, "nearest_away"},
    {Rounding::nearest_toward_zero, "nearest_toward_zero"},
    {Rounding::toward_zero, "toward_zero"},
    {Rounding::toward_positive, "toward_positive"},
    {Rounding::toward_negative, "toward_negative"},
    {Rounding::magnitude_up, "magnitude_up"},
    {Rounding::nearest_up, "nearest_up"},
    {Rounding::nearest_log2_even, "nearest_log2_even"},
    {Rounding::nearest_log2_away, "nearest_log2_away"},
    {Rounding::to_odd, "to_odd"},
    {Rounding::away, "away"},
    {Rounding::nearest_even_code, "nearest_even_code"},
    {Rounding::interpreter_nearest, "interpreter_nearest"},
    {Rounding::interpreter_cut, "interpreter_cut"},
    {Rounding::float_pkg_nearest, "float_pkg_nearest"},
    {Rounding::first_least_distance, "first_least_distance"},
    {Rounding::first_least_distance_signed, "first_least_distance_signed"},
    {Rounding::stochastic_floor, "stochastic_floor"},
    {Rounding::stochastic_odd, "stochastic_odd"},
    {Rounding::stochastic_nearest, "stochastic_nearest"},
    {Rounding::stochastic_add, "stochastic_add"},
}};

constexpr std::array<rows::Word<Overflow>, 7> kOverflows{{
    {Overflow::saturate, "saturate"},
    {Overflow::nan, "nan"},
    {Overflow::inf, "inf"},
    {Overflow::nan_unrounded, "nan_unrounded"},
    {Overflow::inf_unrounded, "inf_unrounded"},
    {Overflow::ieee, "ieee"},
    {Overflow::wrap, "wrap"},
}};

bool gives_nan(Overflow overflow) { return overflow == Overflow::nan || overflow == Overflow::nan_unrounded; }
/// Whether magnitudes above the largest finite one overflow before rounding could bring them back.
bool tests_unrounded(Overflow overflow) {
  return (overflow == Overflow::nan_unrounded || overflow == Overflow::inf_unrounded) && !planted(Fault::unrounded_rounds_first);
}

std::uint32_t sign_bit(const Format& format) { return format.has_sign ? 1U << (format.width - 1) : 0U; }

// Refusals stand out of line: what is left of a conversion is small enough to be compiled into its caller.

[[noreturn, gnu::cold, gnu::noinline]] void refuse_overflow(Overflow overflow, const Format& format) {
  throw Error(ErrorCode::usage, "overflow '" + std::string(name_of(overflow)) + "' is not defined for " + std::string(format.name));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_payload(const Format& format) {
  throw Error(ErrorCode::usage, "a NaN with payload is not defined for " + std::string(format.name));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_nan(const Format& format) {
  throw Error(ErrorCode::usage, "a NaN into " + std::string(format.name) + ": the conversion refuses it");
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_rounding(Rounding rounding, const Format& format) {
  throw Error(ErrorCode::usage, "rounding '" + std::string(name_of(rounding)) + "' is not defined for " + std::string(format.name));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_tiny(const Format& format) {
  throw Error(ErrorCode::usage, "values below the smallest one as NaN are e8m0's, not defined for " + std::string(format.name));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_infinity(InfinityRule rule, const Format& format) {
  throw Error(ErrorCode::usage,
              std::string(rule == InfinityRule::inf ? "an Inf" : "a NaN") + " for infinities is not defined for " + std::string(format.name));
}

bool lacks_infinity(const Format& format, const Conversion& how) {
  const InfinityRule rule = how.fine.infinity;
  return (rule == InfinityRule::inf && !has_inf(format)) || (rule == InfinityRule::nan && !has_nan(format)) ||
         (rule == InfinityRule::as_nan && how.nan_rule != NanRule::fixed);
}

bool searches(Rounding rounding) { return rounding == Rounding::first_least_distance || rounding == Rounding::first_least_distance_signed; }

void check(const Format& format, const Conversion& how) {
  const bool needs_nan = gives_nan(how.overflow);
  const bool needs_inf = how.overflow == Overflow::inf || how.overflow == Overflow::inf_unrounded;
  if ((needs_nan && !has_nan(format)) || (needs_inf && !has_inf(format))) refuse_overflow(how.overflow, format);
  if (lacks_infinity(format, how)) refuse_infinity(how.fine.infinity, format);
  if (searches(how.rounding) && (!format.has_sign || format.encoding != Encoding::floating)) refuse_rounding(how.rounding, format);
  if (how.before.tiny_is_nan && format.encoding != Encoding::exponent_only) refuse_tiny(format);
  const bool needs_payload = how.nan_rule == NanRule::keep_payload || how.nan_rule == NanRule::quiet_payload;
  if (needs_payload && format.specials != Specials::ieee) refuse_payload(format);
}

/// Code of a magnitude on the grid, counted on above the largest one as if there were more.
std::uint64_t magnitude_code(const Value& rounded, const Format& format) {
  const int top = top_exponent(rounded);
  if (format.encoding == Encoding::exponent_only) return static_cast<std::uint64_t>(std::int64_t{top} + format.bias);
  const bool fixed = format.encoding == Encoding::fixed_point;
  if (fixed && top >= format.width) return ~std::uint64_t{0};
  const int up = rounded.exponent - unit_exponent(rounded, format);
  const std::uint64_t units = up >= 0 ? rounded.significand << up : rounded.significand >> -up;
  if (fixed || top < min_exponent(format)) return units;
  // Adding the field to the significand with its hidden bit counts that bit into the exponent.
  return units + (static_cast<std::uint64_t>(top + format.bias - 1) << format.mantissa_bits);
}

std::uint32_t with_sign(std::uint32_t magnitude, bool negative, const Format& format) {
  if (!negative || !format.has_sign) return magnitude;
  if (format.encoding == Encoding::fixed_point) return (0U - magnitude) & ((1U << format.width) - 1U);
  const bool one_zero = nan_is_negative_zero(format);
  if (magnitude == 0 && (one_zero || planted(Fault::encode_drops_zero_sign))) return 0;
  return magnitude | sign_bit(format);
}

std::uint32_t inf_code(const Format& format) { return max_finite_code(format) + 1U; }

/// The NaN that stands for an overflow: quiet, with the sign where the format has signed NaNs.
std::uint32_t overflow_nan(bool negative, const Format& format) {
  switch (format.specials) {
    case Specials::nan_negative_zero: return sign_bit(format);
    case Specials::nan_top_code: return max_finite_code(format) + 1U;
    case Specials::inf_top: return format.has_sign ? sign_bit(format) : magnitude_mask(format);
    case Specials::ieee: return (inf_code(format) | (1U << (format.mantissa_bits - 1))) | (negative ? sign_bit(format) : 0U);
    case Specials::nan_all_ones:
    case Specials::none: break;
  }
  return (max_finite_code(format) + 1U) | (negative ? sign_bit(format) : 0U);
}

/// What is left of a rounded number above the largest one, of which a datapath keeps the bits of a code.
std::uint32_t wrapped_code(const Value& rounded, const Format& format) {
  if (format.encoding != Encoding::fixed_point)
    return with_sign(static_cast<std::uint32_t>(magnitude_code(rounded, format)) & magnitude_mask(format), rounded.negative, format);
  const int up = rounded.exponent + format.mantissa_bits;
  const std::uint64_t units = up >= 64 ? 0U : rounded.significand << up;
  return static_cast<std::uint32_t>(rounded.negative ? 0U - units : units) & ((1U << format.width) - 1U);
}

std::uint32_t overflow_code(const Value& value, const Format& format, const Conversion& how, Flags& flags) {
  const bool infinite = value.cls == ValueClass::infinity;
  bool clamps = how.overflow == Overflow::saturate;
  if (how.overflow == Overflow::ieee && !infinite && !planted(Fault::overflow_ignores_rounding))
    clamps = !overflows_to_inf(value.negative, how.rounding, format);
  const bool wraps = how.overflow == Overflow::wrap && !infinite;
  const bool by_format = how.overflow == Overflow::ieee || how.overflow == Overflow::wrap;
  clamps |= by_format && !wraps && !has_nan(format);
  flags.overflow |= !infinite;
  flags.inexact |= !infinite;
  flags.invalid |= infinite && !has_inf(format);
  flags.saturated |= clamps && !planted(Fault::saturation_leaves_no_flag);
  if (clamps) return with_sign(max_finite_code(format), value.negative, format);
  if (wraps) return wrapped_code(value, format);
  if (gives_nan(how.overflow) || (by_format && !has_inf(format))) return overflow_nan(value.negative, format);
  return with_sign(inf_code(format), value.negative, format);
}

/// A NaN's code; `payload` holds the source's mantissa with its top bit in bit 31.
std::uint32_t nan_code(bool negative, std::uint32_t payload, const Format& format, const Conversion& how, Flags& flags) {
  if (how.nan_rule == NanRule::refused) refuse_nan(format);
  flags.invalid |= !has_nan(format);
  flags.nan = true;
  if (how.nan_rule == NanRule::fixed) return negative && !planted(Fault::nan_loses_sign) ? how.nan_negative : how.nan_positive;
  const std::uint32_t head = (negative ? sign_bit(format) : 0U) | inf_code(format);
  const std::uint32_t kept = payload >> (32 - format.mantissa_bits);
  if (how.nan_rule == NanRule::quiet_payload) return head | kept | (1U << (format.mantissa_bits - 1));
  return head | (kept == 0 || planted(Fault::nan_loses_payload) ? 1U : kept);
}

std::uint32_t zero_code(const Value& value, const Format& format, const Conversion& how, Flags& flags) {
  if (format.encoding != Encoding::exponent_only) return with_sign(0, value.negative, format);
  const bool is_nan = is_nan_code(format, how.zero_code);
  flags.invalid |= is_nan;
  flags.inexact |= !is_nan;
  return how.zero_code;
}

/// The code above which a magnitude overflows.
std::uint32_t overflow_limit(const Format& format) {
  const std::uint32_t top = max_finite_code(format);
  // As if the top exponent were kept for Inf and NaN, which E4M3 and the FNUZ formats do not do.
  const bool keeps_top = planted(Fault::encode_saturates_low) && format.specials != Specials::ieee && format.encoding == Encoding::floating;
  return keeps_top ? (top >> format.mantissa_bits << format.mantissa_bits) - 1U : top;
}

bool flushes_source(Flush flush) { return flush == Flush::source || flush == Flush::both; }
bool flushes_target(Flush flush) { return flush == Flush::target || flush == Flush::both; }

void note_flush(Flags& flags) {
  flags.inexact = true;
  flags.flushed |= !planted(Fault::flush_leaves_no_flag);
}

std::uint32_t encode_prepared(const Value& value, const Format& format, const Conversion& how, const Draw& draw, Flags& flags);

/// A code that needs no rounding, or the value that is rounded.
struct Prepared {
  Value value;
  std::optional<std::uint32_t> code;
};

[[gnu::noinline]] Prepared prepared(Value value, const Format& format, const Conversion& how, Flags& flags) {
  const Preparation& before = how.before;
  value = scaled(value, before.power);
  if (before.through != nullptr) {
    constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0, 0, 0, false};
    if (value.cls == ValueClass::nan) return {value, std::nullopt};
    value = decode(*before.through, encode_prepared(value, *before.through, kNearest, {.rounding = Rounding::nearest_even}, flags));
  }
  if (value.cls == ValueClass::nan) return {value, std::nullopt};
  if (before.least_input) {
    const Value least = decode(kF32, *before.least_input);
    const bool positive = !value.negative && value.cls != ValueClass::zero;
    const bool is_less = !positive || (value.cls == ValueClass::finite && least.cls == ValueClass::finite && exceeds(least, value));
    flags.inexact |= is_less && !(value.cls == ValueClass::zero && least.cls == ValueClass::zero);
    if (is_less) value = least;
  }
  if (before.range && value.cls == ValueClass::finite && (format.has_sign || !value.negative)) {
    const Value to = decode(kF32, before.range->to);
    const bool from = before.range->from == 0 || !exceeds(decode(kF32, before.range->from), value);
    if (from && (to.cls == ValueClass::infinity || exceeds(to, value))) {
      flags.inexact = true;
      (is_nan_code(format, before.range->code) ? flags.invalid : before.range->code == 0 ? flags.underflow : flags.overflow) = true;
      return {value, with_sign(before.range->code, value.negative, format)};
    }
  }
  const bool tiny = before.tiny_is_nan && value.cls == ValueClass::finite && !value.negative && top_exponent(value) < min_exponent(format);
  if (!tiny) return {value, std::nullopt};
  flags.invalid = true;
  return {value, overflow_nan(false, format)};
}

/// The code at the least fp32 distance, the first of several.
[[gnu::noinline]] std::uint32_t searched(const Value& value, const Format& format, Rounding rounding, Flags& flags) {
  const std::uint32_t x = to_f32(value);
  const bool is_signed = rounding == Rounding::first_least_distance_signed;
  const std::uint32_t target = is_signed ? x : x & ~f32::kSign;
  const std::uint32_t magnitudes = max_finite_code(format) + 1U;
  std::uint32_t best = 0;
  std::uint32_t least = f32::kNan;
  for (std::uint32_t i = 0; i < (is_signed ? 2 * magnitudes : magnitudes); ++i) {
    const std::uint32_t code = i < magnitudes ? i : (i - magnitudes) | sign_bit(format);
    const std::uint32_t distance = f32::sub(target, to_f32(code, format)) & ~f32::kSign;
    if (i != 0 && !f32::less(distance, least)) continue;
    best = code;
    least = distance;
  }
  const bool below_zero = value.negative && value.cls != ValueClass::zero && value.cls != ValueClass::nan;
  if (!is_signed && below_zero) best |= sign_bit(format);
  flags.nan |= value.cls == ValueClass::nan;
  flags.invalid |= value.cls == ValueClass::nan || value.cls == ValueClass::infinity;
  flags.inexact |= value.cls == ValueClass::finite && canonical(decode(format, best)) != canonical(value);
  flags.overflow |= value.cls == ValueClass::finite && exceeds(value, decode(format, max_finite_code(format)));
  return best;
}

/// What an infinity gives where that is a rule of its own.
std::uint32_t infinite_code(const Value& value, const Format& format, const Conversion& how, Flags& flags) {
  Conversion ruled = how;
  switch (planted(Fault::infinity_overflows) ? InfinityRule::as_overflow : how.fine.infinity) {
    case InfinityRule::inf: ruled.overflow = Overflow::inf; break;
    case InfinityRule::nan: ruled.overflow = Overflow::nan; break;
    case InfinityRule::as_nan: flags.invalid |= !has_inf(format); return value.negative ? how.nan_negative : how.nan_positive;
    case InfinityRule::largest: ruled.overflow = Overflow::saturate; break;
    case InfinityRule::zero:
      flags.inexact = true;
      return zero_code({.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = value.negative}, format, how, flags);
    case InfinityRule::as_overflow: break;
  }
  return overflow_code(value, format, ruled, flags);
}

/// Whether the rule makes it NaN: it does not round to zero, and the direction is not up.
bool is_below(const Value& value, const Format& format, const Draw& draw) {
  if (value.cls == ValueClass::infinity) return true;
  Flags flags;
  const bool becomes_zero = rounding::round(value, format, draw, flags).cls == ValueClass::zero;
  return !becomes_zero && draw.rounding != Rounding::toward_zero && draw.rounding != Rounding::toward_positive;
}

/// A negative number or -Inf where there is no sign and a rule says that it is no magnitude.
std::uint32_t unsigned_code(const Value& value, const Format& format, const Conversion& how, const Draw& draw, Flags& flags) {
  if (how.fine.negative == NegativeRule::directed && is_below(value, format, draw)) {
    flags.invalid = true;
    return overflow_nan(true, format);
  }
  flags.inexact = true;
  return 0;
}

/// Under rules of `fine`. A zero of -0 loses its sign before anything else is asked, one that a rounding made only where every zero does.
[[gnu::noinline]] std::uint32_t encode_finely(Value value, const Format& format, const Conversion& how, const Draw& draw, Flags& flags) {
  const bool drops_sign = value.negative && !format.has_sign && how.fine.negative != NegativeRule::as_said && value.cls != ValueClass::nan;
  const bool keeps_infinity = how.fine.negative == NegativeRule::zero && value.cls == ValueClass::infinity;
  if (drops_sign && value.cls != ValueClass::zero && !keeps_infinity) return unsigned_code(value, format, how, draw, flags);
  flags.inexact |= drops_sign && keeps_infinity;
  if (drops_sign) value.negative = false;
  const bool is_zero = value.cls == ValueClass::zero || (value.cls == ValueClass::infinity && how.fine.infinity == InfinityRule::zero);
  if (is_zero && how.fine.zero_sign != SignOfZero::keep && !planted(Fault::zero_rule_forgotten)) value.negative = false;
  const bool refuses_sign = value.negative && !format.has_sign && how.negative_is_nan;
  flags.inexact |= value.cls == ValueClass::infinity && value.negative && !format.has_sign && !refuses_sign;
  const std::uint32_t code = value.cls == ValueClass::infinity && !refuses_sign ? infinite_code(value, format, how, flags)
                                                                                : encode_prepared(value, format, how, draw, flags);
  const bool loses_sign = how.fine.zero_sign == SignOfZero::positive && value.cls != ValueClass::nan && decode(format, code).cls == ValueClass::zero;
  return loses_sign ? 0U : code;
}

std::uint32_t encode_checked(const Value& value, const Format& format, const Conversion& how, const Draw& draw, Flags& flags) {
  const bool finely = changes_codes(how.fine);
  if (how.before == Preparation{} && !finely) return encode_prepared(value, format, how, draw, flags);
  const Prepared ready = prepared(value, format, how, flags);
  if (ready.code) return *ready.code;
  return finely ? encode_finely(ready.value, format, how, draw, flags) : encode_prepared(ready.value, format, how, draw, flags);
}

std::uint32_t encode_prepared(const Value& value, const Format& format, const Conversion& how, const Draw& draw, Flags& flags) {
  if (searches(draw.rounding)) return searched(value, format, draw.rounding, flags);
  if (value.cls == ValueClass::nan) return nan_code(value.negative, 0, format, how, flags);
  if (value.cls == ValueClass::zero) return zero_code(value, format, how, flags);
  if (value.negative && !format.has_sign && how.negative_is_nan) {
    flags.invalid = true;
    return overflow_nan(true, format);
  }
  flags.inexact |= value.negative && !format.has_sign;  // the sign is lost
  const std::uint32_t limit = overflow_limit(format);
  if (value.cls == ValueClass::infinity || (tests_unrounded(how.overflow) && exceeds(value, decode(format, limit)))) {
    return overflow_code(value, format, how, flags);
  }
  const Value rounded = rounding::round(value, format, draw, flags);
  if (rounded.cls == ValueClass::zero) return with_sign(0, rounded.negative, format);
  const std::uint64_t code = magnitude_code(rounded, format);
  if (code > limit) return overflow_code(rounded, format, how, flags);
  if (flushes_target(how.flush) && is_subnormal(planted(Fault::flush_before_rounding) ? value : rounded, format)) {
    flags.underflow = true;
    note_flush(flags);
    return with_sign(0, rounded.negative, format);
  }
  return with_sign(static_cast<std::uint32_t>(code), rounded.negative, format);
}

}  // namespace

std::string_view name_of(Rounding rounding) { return rows::word_of<Rounding>(kRoundings, rounding); }
std::string_view name_of(Overflow overflow) { return rows::word_of<Overflow>(kOverflows, overflow); }

Rounding rounding_named(std::string_view name) { return rows::named(kRoundings, "rounding", name).value; }
Overflow overflow_named(std::string_view name) { return rows::named(kOverflows, "overflow rule", name).value; }

std::uint32_t encode(const Value& value, const Format& format, const Conversion& how, Flags& flags, Random random) {
  if (flushes_source(how.flush)) throw Error(ErrorCode::usage, "flushing subnormals of the source needs a source format: convert has one");
  check(format, how);
  return encode_checked(value, format, how, checked_draw(format, how, random), flags);
}

std::uint32_t convert(std::uint32_t code, const Format& from, const Format& to, const Conversion& how, Flags& flags, Random random) {
  check(to, how);
  const Draw draw = checked_draw(to, how, random);
  if (reads_source_bits(how.rounding)) return moved_bits(code, from, to, how.rounding, flags);
  Value value = decode(from, code);
  if (value.cls == ValueClass::nan && how.nan_rule != NanRule::fixed) {
    const std::uint32_t payload = from.mantissa_bits == 0 ? 0U : code << (32 - from.mantissa_bits);
    return nan_code(value.negative, payload, to, how, flags);
  }
  if (flushes_source(how.flush) && is_subnormal(value, from) && !planted(Fault::flush_forgets_source)) {
    value = {.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = value.negative};
    note_flush(flags);
  }
  return encode_checked(value, to, how, draw, flags);
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
