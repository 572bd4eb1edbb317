#include "model/numerics/rounding.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/element_step.hpp"
#include "model/numerics/f32.hpp"

namespace mx {

using fault::Fault;
using fault::planted;

namespace rounding {
namespace {

/// Bits below the leading one of fp32's significand, which stochastic_add aligns to.
constexpr int kAlignedBits = 23;
constexpr int kMostRandomBits = 32;

/// What rounding drops, against half a unit.
struct Dropped {
  bool any;
  bool above_half;
  bool half;
};

/// The low `shift` bits; beyond 64 places they are all there is.
std::uint64_t rest_of(std::uint64_t significand, int shift) { return shift >= 64 ? significand : significand & ((std::uint64_t{1} << shift) - 1U); }

Dropped dropped_bits(std::uint64_t significand, int shift) {
  // Beyond 64 places everything is below half a unit.
  if (shift > 64) return {.any = significand != 0, .above_half = false, .half = false};
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rest = rest_of(significand, shift);
  if (planted(Fault::encode_drops_sticky)) return {.any = rest != 0, .above_half = false, .half = rest >= half};
  return {.any = rest != 0, .above_half = rest > half, .half = rest == half};
}

/// Whether the magnitude goes up to the next grid point.
bool goes_up(const Dropped& dropped, bool odd, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even:
    case Rounding::nearest_even_code: return dropped.above_half || (dropped.half && (odd || planted(Fault::encode_ties_away)));
    case Rounding::nearest_away:
    case Rounding::nearest_up: return dropped.above_half || dropped.half;
    case Rounding::nearest_toward_zero: return dropped.above_half;
    case Rounding::toward_zero: return false;
    case Rounding::to_odd: return dropped.any && !odd && !planted(Fault::odd_is_cut);
    case Rounding::toward_positive: return dropped.any && (!negative || planted(Fault::directed_ignores_sign));
    case Rounding::toward_negative: return dropped.any && (negative || planted(Fault::directed_ignores_sign));
    default: break;
  }
  return dropped.any;
}

/// floor(f * 2^bits) of the fraction f = rest / 2^shift; bits is at most 33.
std::uint64_t scaled_fraction(std::uint64_t rest, int shift, int bits) {
  const int down = shift - bits;
  if (down >= 64) return 0;
  return down >= 0 ? rest >> down : rest << -down;
}

/// The same, to nearest even.
std::uint64_t nearest_fraction(std::uint64_t rest, int shift, int bits) {
  const std::uint64_t floor = scaled_fraction(rest, shift, bits);
  const int down = shift - bits;
  if (down <= 0) return floor;
  return floor + (goes_up(dropped_bits(rest, down), (floor & 1U) != 0, false, Rounding::nearest_even) ? 1U : 0U);
}

/// Whether fraction and random number together make a unit of 2^bits.
bool makes_unit(std::uint64_t fraction, std::uint64_t random, int bits) {
  const std::uint64_t sum = fraction + random + (planted(Fault::stochastic_off_by_one) ? 1U : 0U);
  return (sum >> bits) != 0;
}

bool draws_up(std::uint64_t rest, int shift, const Format& format, const Draw& draw) {
  const int aligned = kAlignedBits - format.mantissa_bits;
  const std::uint64_t random = draw.random;
  switch (draw.rounding) {
    case Rounding::stochastic_odd: return makes_unit(scaled_fraction(rest, shift, draw.bits + 1), 2 * random + 1, draw.bits + 1);
    case Rounding::stochastic_nearest: return makes_unit(nearest_fraction(rest, shift, draw.bits), random, draw.bits);
    case Rounding::stochastic_add: return makes_unit(scaled_fraction(rest, shift, aligned), random, aligned);
    default: break;
  }
  return makes_unit(scaled_fraction(rest, shift, draw.bits), random, draw.bits);
}

/// Whether a magnitude on the grid has an odd code. Without a mantissa the last bit of a normal number's code is its exponent's.
bool is_odd(std::uint64_t kept, int unit, const Format& format) {
  if (format.mantissa_bits > 0 || format.encoding != Encoding::floating || kept == 0) return (kept & 1U) != 0;
  return ((unit + format.bias) & 1) != 0;
}

bool of_powers_only(Rounding rounding) {
  return rounding == Rounding::magnitude_up || rounding == Rounding::nearest_up || rounding == Rounding::nearest_log2_even ||
         rounding == Rounding::nearest_log2_away || rounding == Rounding::nearest_even_code;
}

/// Whether a significand whose low `shift` bits are dropped goes up to the next grid point.
bool rounds_up(const Value& value, int shift, bool odd, const Format& format, const Draw& draw, const Dropped& dropped) {
  if (is_stochastic(draw.rounding)) return draws_up(rest_of(value.significand, shift), shift, format, draw);
  return goes_up(dropped, odd, value.negative, draw.rounding);
}

/// E8M0 has no zero: what is below its smallest power of two becomes that power.
Value round_to_power(const Value& value, const Format& format, const Draw& draw, Flags& flags) {
  const int least = min_exponent(format);
  const int top = top_exponent(value);
  const bool is_power = std::has_single_bit(value.significand);
  if (draw.rounding == Rounding::nearest_log2_even || draw.rounding == Rounding::nearest_log2_away) {
    const bool away = draw.rounding == Rounding::nearest_log2_away;
    const int found = std::max(nearest_log2(value, away ? Halves::away_from_zero : Halves::to_even), least);
    const int nearest = away ? std::min(found, max_exponent(format)) : found;
    flags.inexact |= !is_power || top != nearest;
    flags.underflow |= top < least;
    return {.significand = 1, .exponent = nearest, .cls = ValueClass::finite, .negative = value.negative};
  }
  Value rounded{.significand = 1, .exponent = least, .cls = ValueClass::finite, .negative = value.negative};
  if (top >= least) {
    const int shift = top - value.exponent;
    const Dropped dropped = is_power ? Dropped{} : dropped_bits(value.significand, shift);
    // One bit of precision: the significand is odd always, so a tie to even goes up (IEEE 754-2019 section 4.3.1). Codes are even and odd: what
    // to_odd asks for is the code's, and so is nearest_even_code's tie.
    const bool odd_code = ((top + format.bias) & 1) != 0;
    const bool odd = (draw.rounding != Rounding::to_odd && draw.rounding != Rounding::nearest_even_code) || odd_code;
    bool up = !is_power && rounds_up(value, shift, odd, format, draw, dropped);
    // There is no midpoint in the lowest binade of torch's and ml_dtypes' conversion.
    if (draw.rounding == Rounding::nearest_up && top == least) up = dropped.any;
    rounded.exponent = top + (up ? 1 : 0);
  }
  flags.inexact |= !is_power || top < least;
  flags.underflow |= top < least;
  return rounded;
}

// Refusals stand out of line: what is left of a conversion is small enough to be compiled into its caller.

[[noreturn, gnu::cold, gnu::noinline]] void refuse(Rounding rounding, const Format& format) {
  throw Error(ErrorCode::usage, "rounding '" + std::string(name_of(rounding)) + "' is not defined for " + std::string(format.name));
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_bits(Rounding rounding) {
  throw Error(ErrorCode::usage, "rounding '" + std::string(name_of(rounding)) + "' moves the bits of a source: convert has one");
}

int most_random_bits(const Format& format, Rounding rounding) {
  return rounding == Rounding::stochastic_add ? kAlignedBits - format.mantissa_bits : kMostRandomBits;
}

/// Says what is wrong with the random bits of a conversion that `draws_well` is false of.
[[noreturn, gnu::cold, gnu::noinline]] void refuse_draw(const Format& format, const Conversion& how, Random random) {
  const int bits = how.random_bits;
  const int most = most_random_bits(format, how.rounding);
  std::string what = "rounding '" + std::string(name_of(how.rounding)) + "'";
  if (!is_stochastic(how.rounding)) {
    what += " takes no random bits";
  } else if (bits < 1 || bits > most) {
    what += " takes 1 to " + std::to_string(most) + " random bits, not " + std::to_string(bits);
  } else if (!random) {
    what += " needs a random number of " + std::to_string(bits) + " bits";
  } else {
    what += " takes " + std::to_string(bits) + " random bits, " + std::to_string(*random) + " has more";
  }
  throw Error(ErrorCode::usage, "a conversion into " + std::string(format.name) + ": " + what);
}

/// Whether random number and bits are what the rounding takes.
bool draws_well(const Format& format, const Conversion& how, Random random) {
  const int bits = how.random_bits;
  if (!is_stochastic(how.rounding)) return bits == 0 && !random;
  return bits >= 1 && bits <= most_random_bits(format, how.rounding) && random && (bits == 32 || (*random >> bits) == 0);
}

}  // namespace

int nearest_log2(const Value& value, Halves halves) {
  const std::uint32_t log2 = f32::log2(to_f32(Value{value.significand, value.exponent, ValueClass::finite, false}));
  const int below = floor_of(log2);
  const Value half{.significand = 1, .exponent = -1, .cls = ValueClass::finite, .negative = false};
  const Value whole{.significand = static_cast<std::uint64_t>(below < 0 ? -below : below),
                    .exponent = 0,
                    .cls = below == 0 ? ValueClass::zero : ValueClass::finite,
                    .negative = below < 0};
  const std::uint32_t fraction = f32::sub(log2, to_f32(whole));
  const std::uint32_t middle = to_f32(half);
  const bool half_goes_up = halves == Halves::to_even ? below % 2 != 0 : below >= 0;
  return below + (f32::less(middle, fraction) || (fraction == middle && half_goes_up) ? 1 : 0);
}

Draw checked_draw(const Format& format, const Conversion& how, Random random) {
  if (!draws_well(format, how, random)) refuse_draw(format, how, random);
  return {how.rounding, how.random_bits, random.value_or(0)};
}

Value round(const Value& value, const Format& format, const Draw& draw, Flags& flags) {
  assert(value.cls == ValueClass::zero || value.cls == ValueClass::finite);
  if (reads_source_bits(draw.rounding)) refuse_bits(draw.rounding);
  if (of_powers_only(draw.rounding) && format.encoding != Encoding::exponent_only) refuse(draw.rounding, format);
  if (value.cls == ValueClass::zero) return value;
  if (format.encoding == Encoding::exponent_only) return round_to_power(value, format, draw, flags);
  const int unit = unit_exponent(value, format);
  const int shift = unit - value.exponent;
  if (shift <= 0) return value;
  const Dropped dropped = dropped_bits(value.significand, shift);
  std::uint64_t kept = shift >= 64 ? 0 : value.significand >> shift;
  if (rounds_up(value, shift, is_odd(kept, unit, format), format, draw, dropped)) {
    ++kept;
    // The mantissa wraps to zero and the exponent stays.
    if (planted(Fault::encode_loses_carry) && kept == std::uint64_t{2} << format.mantissa_bits) kept >>= 1;
  }
  flags.inexact |= dropped.any;
  flags.underflow |= dropped.any && is_subnormal(value, format);
  if (kept == 0) return {.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = value.negative};
  return {.significand = kept, .exponent = unit, .cls = ValueClass::finite, .negative = value.negative};
}

}  // namespace rounding

Value round_to(const Value& value, const Format& format, Rounding rounding, Flags& flags) {
  if (rounding == Rounding::first_least_distance || rounding == Rounding::first_least_distance_signed) {
    throw Error(ErrorCode::usage, "rounding '" + std::string(name_of(rounding)) + "' searches codes: encode does it");
  }
  if (is_stochastic(rounding)) {
    throw Error(ErrorCode::usage, "rounding '" + std::string(name_of(rounding)) + "' needs random bits: encode takes them");
  }
  return rounding::round(value, format, {.rounding = rounding}, flags);
}

}  // namespace mx
