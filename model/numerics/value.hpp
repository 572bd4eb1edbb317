#pragma once
// The exact value behind a code: sign, integer significand, power of two. All numerics go through it; nothing here is a float.

#include <cstdint>

#include "model/numerics/format.hpp"

namespace mx {

enum class ValueClass : std::uint8_t { zero, finite, infinity, nan };

/// (-1)^negative * significand * 2^exponent for finite values (significand != 0); the sign alone for the other classes.
struct Value {
  std::uint64_t significand = 0;
  std::int32_t exponent = 0;
  ValueClass cls = ValueClass::zero;
  bool negative = false;

  friend bool operator==(const Value&, const Value&) = default;
};

/// Value of a code. Bits above the format's width must be 0 (a programmer's error otherwise). Source: the row of the format.
Value decode(const Format& format, std::uint32_t code);

/// The exact product; significands of up to 32 bits each. NaN wins, 0 * Inf is NaN.
Value exact_product(const Value& a, const Value& b);

/// The same value with the significand shifted down until it is odd: equal numbers then compare equal.
Value canonical(Value value);

}  // namespace mx
