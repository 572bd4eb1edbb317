#pragma once
// The exact sum of exact products: a fixed-point accumulator wide enough that nothing is ever rounded (Kulisch's accumulator).

#include <array>
#include <cstdint>

#include "model/numerics/convert.hpp"
#include "model/numerics/value.hpp"

namespace mx {

/// Accumulates values and products without rounding, then rounds once. Range: every product of two values with significands below
/// 2^32 and exponents in [-320, 260] (any fp32 by any scaled MX or NV element), up to 2^40 of them.
/// NaN wins over Inf; +Inf and -Inf, or 0 * Inf, give NaN. An empty or fully cancelled sum is +0; a sum of -0 only is -0.
class ExactSum {
 public:
  void add(const Value& value);
  void add_product(const Value& a, const Value& b);

  /// The sum rounded once to `format` with the given rules.
  std::uint32_t round(const Format& format, const Conversion& how) const;
  /// The sum as fp32 bits, nearest even, overflow to Inf, NaN 0x7FC00000.
  std::uint32_t to_f32() const;

 private:
  static constexpr int kLimbs = 20;
  // Two's complement, least significant limb first, unit 2^kUnitExponent.
  static constexpr int kUnitExponent = -640;
  std::array<std::uint64_t, kLimbs> limbs_{};
  bool any_ = false;
  bool all_negative_zero_ = true;
  bool nan_ = false;
  bool positive_infinity_ = false;
  bool negative_infinity_ = false;
};

}  // namespace mx
