#pragma once
// The exact sum of exact products: a fixed-point accumulator wide enough that nothing is ever rounded (Kulisch's accumulator).

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/numerics/convert.hpp"
#include "model/numerics/value.hpp"

namespace mx {

/// Accumulates values and products without rounding, then rounds once. Range: terms with any significands and an exponent (of a product, the
/// sum of both) in [-640, 575], up to 2^63 of them: any fp32 by any scaled MX or NV element, and more. A term outside throws Error(usage).
/// NaN wins over Inf; +Inf and -Inf, or 0 * Inf, give NaN. An empty or fully cancelled sum is +0; a sum of -0 only is -0.
class ExactSum {
 public:
  void add(const Value& value);
  void add_product(const Value& a, const Value& b);

  /// The sum rounded once to `format` with the given rules; a NaN is positive.
  std::uint32_t round(const Format& format, const Conversion& how) const;
  /// The sum as fp32 bits, nearest even, overflow to Inf, NaN 0x7FC00000.
  std::uint32_t to_f32() const;

  /// The sum with its top 64 bits; the lowest one is also set when anything nonzero lies below. Class and sign are exact, and it rounds to any
  /// format's grid as the sum does, since no format has more than 24 bits.
  Value leading_bits() const;

 private:
  static constexpr std::size_t kLimbs = 22;
  static constexpr int kUnitExponent = -640;
  /// Least significant limb first, unit 2^kUnitExponent.
  using Limbs = std::array<std::uint64_t, kLimbs>;

  void note(ValueClass cls, bool negative);
  /// Adds (high * 2^64 + low) * 2^exponent to the sum of that sign.
  void add_magnitude(std::uint64_t low, std::uint64_t high, int exponent, bool negative);

  // Positive and negative terms apart: one sum that changes its sign would carry through all its limbs each time.
  std::array<Limbs, 2> magnitudes_{};
  bool any_ = false;
  bool all_negative_zero_ = true;
  bool nan_ = false;
  bool positive_infinity_ = false;
  bool negative_infinity_ = false;
};

}  // namespace mx
