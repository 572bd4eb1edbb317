#pragma once
// Numbers of any size and range, exactly: sums, products, quotients and square roots of what codes stand for, before they are rounded once. A
// reference: slow, and without a limit that a format could meet.

#include <compare>
#include <cstdint>
#include <vector>

#include "model/numerics/value.hpp"

namespace mx {

/// A natural number of any size.
class Natural {
 public:
  Natural() = default;
  explicit Natural(std::uint64_t number);

  bool is_zero() const { return limbs_.empty(); }
  int bits() const;  ///< how many it takes to write it: 0 for 0

  friend Natural operator+(const Natural& a, const Natural& b);
  friend Natural operator-(const Natural& a, const Natural& b);  ///< a is not below b
  friend Natural operator*(const Natural& a, const Natural& b);
  friend Natural operator<<(const Natural& a, int places);
  friend bool operator==(const Natural& a, const Natural& b) = default;
  friend std::strong_ordering operator<=>(const Natural& a, const Natural& b);

 private:
  void trim();

  std::vector<std::uint32_t> limbs_;  ///< least first, no zero at the end
};

/// NaN, an infinity, or +-numerator / denominator * 2^exponent; of a root the square root of that, whose sign is +. The denominator is not 0. One
/// zero, without a sign.
struct Real {
  ValueClass cls = ValueClass::zero;
  bool negative = false;
  Natural numerator{};
  Natural denominator{1};
  std::int64_t exponent = 0;
  bool is_root = false;
};

/// What a value stands for; a zero loses its sign.
Real real_of(const Value& value);
/// NaN, which has no sign.
Real nan_real();
/// +Inf or -Inf.
Real infinite_real(bool negative);

/// -x; NaN and 0 as they are.
Real negated(Real x);
/// |x|; NaN as it is.
Real absolute(Real x);

/// Sums and products: NaN wins, Inf - Inf and 0 * Inf are NaN. Operands are no roots.
Real sum(const Real& a, const Real& b);
Real product(const Real& a, const Real& b);
/// a / b: NaN wins, x / 0 and Inf / Inf are NaN, x / Inf is 0. a may be a root, b is none. Source: P3109 4.0 section 4.10.5.
Real quotient(const Real& a, const Real& b);
/// NaN below 0. x is no root.
Real square_root(Real x);

/// Less, equal or greater of two numbers or infinities, no NaN and no root.
std::strong_ordering compare(const Real& a, const Real& b);

/// The number with its top 61 bits or more, the lowest of them also set when anything lies below: it rounds to a grid of up to 24 bits, by up to 32
/// random bits too, as the number does.
Value leading_bits(const Real& x);

}  // namespace mx
