#pragma once
// Rounding to a format's grid, with the random bits of a stochastic rounding. For .cpp files of this folder; others call round_to and encode.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "model/numerics/convert.hpp"

namespace mx::rounding {

/// A rounding and what it draws: `random` has `bits` bits, both are 0 for a deterministic one.
struct Draw {
  Rounding rounding;
  int bits = 0;
  std::uint32_t random = 0;
};

/// floor(log2 |value|) of a finite value.
inline int top_exponent(const Value& value) { return value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1; }

/// A number times 2^power.
inline Value scaled(Value value, int power) {
  if (value.cls == ValueClass::finite) value.exponent += power;
  return value;
}

/// Smallest exponent of a normal number: magnitudes below 2^this are tiny.
inline int min_exponent(const Format& format) { return format.encoding == Encoding::exponent_only ? -format.bias : 1 - format.bias; }

/// Exponent of the grid's unit around `value`.
inline int unit_exponent(const Value& value, const Format& format) {
  if (format.encoding == Encoding::fixed_point) return -format.mantissa_bits;
  return std::max(top_exponent(value), min_exponent(format)) - format.mantissa_bits;
}

/// Below the smallest normal number of a format that has subnormals.
inline bool is_subnormal(const Value& value, const Format& format) {
  return format.encoding == Encoding::floating && value.cls == ValueClass::finite && top_exponent(value) < min_exponent(format);
}

/// Whether the magnitude of a finite value or zero is above that of another.
inline bool exceeds(const Value& value, const Value& limit) {
  // A zero has no top bit, and its exponent says nothing.
  if (value.significand == 0 || limit.significand == 0) return value.significand > limit.significand;
  if (top_exponent(value) != top_exponent(limit)) return top_exponent(value) > top_exponent(limit);
  // The same binade: with both top bits in bit 63 the significands compare as they are.
  return (value.significand << std::countl_zero(value.significand)) > (limit.significand << std::countl_zero(limit.significand));
}

/// IEEE 754 section 7.4: a directed rounding overflows to Inf in its own direction only; rounding to odd does where Inf's code is the odd one, as in
/// P3109's extended formats with a sign.
inline bool overflows_to_inf(bool negative, Rounding rounding, const Format& format) {
  switch (rounding) {
    case Rounding::toward_zero: return false;
    case Rounding::to_odd: return has_inf(format) && max_finite_code(format) % 2 == 0;
    case Rounding::toward_positive: return !negative;
    case Rounding::toward_negative: return negative;
    default: return true;
  }
}

/// Where a logarithm between two whole numbers goes.
enum class Halves { to_even, away_from_zero };

/// The whole number nearest to the fp32 logarithm of a finite magnitude.
int nearest_log2(const Value& value, Halves halves);

/// The draw that a conversion into `format` asks for. Throws Error(usage) when the random number is missing, has more bits than the rounding
/// takes or belongs to no stochastic rounding, and when the rounding takes another number of bits than it can.
Draw checked_draw(const Format& format, const Conversion& how, Random random);

/// round_to for every rounding that the format has.
Value round(const Value& value, const Format& format, const Draw& draw, Flags& flags);

}  // namespace mx::rounding
