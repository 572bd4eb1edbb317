#include "model/numerics/exact_real.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace mx {
namespace {

constexpr int kLimbBits = 32;

bool is_nan(const Real& x) { return x.cls == ValueClass::nan; }
bool is_infinite(const Real& x) { return x.cls == ValueClass::infinity; }
bool is_zero(const Real& x) { return x.cls == ValueClass::zero; }

Real number(bool negative, Natural numerator, Natural denominator, std::int64_t exponent) {
  if (numerator.is_zero()) return {};
  return {ValueClass::finite, negative, std::move(numerator), std::move(denominator), exponent, false};
}

/// Numerators of two numbers over one denominator and one exponent.
struct Aligned {
  Natural a, b;
  Natural denominator;
  std::int64_t exponent;
};
Aligned aligned(const Real& a, const Real& b) {
  const std::int64_t least = std::min(a.exponent, b.exponent);
  return {(a.numerator * b.denominator) << static_cast<int>(a.exponent - least),
          (b.numerator * a.denominator) << static_cast<int>(b.exponent - least), a.denominator * b.denominator, least};
}

/// floor(n / d) below 2^64, and whether anything is left.
std::pair<std::uint64_t, bool> divided(Natural n, const Natural& d) {
  std::uint64_t whole = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Natural part = d << bit;
    if (part > n) continue;
    n = n - part;
    whole |= std::uint64_t{1} << bit;
  }
  return {whole, !n.is_zero()};
}

/// floor(sqrt(n / d)) below 2^63, and whether that is not all.
std::pair<std::uint64_t, bool> rooted(const Natural& n, const Natural& d) {
  std::uint64_t root = 0;
  const auto squared = [&](std::uint64_t x) { return Natural(x) * Natural(x) * d; };
  for (int bit = 62; bit >= 0; --bit) {
    const std::uint64_t candidate = root | std::uint64_t{1} << bit;
    if (squared(candidate) <= n) root = candidate;
  }
  return {root, squared(root) != n};
}

/// One of them shifted so that the first gains `by` bits on the second.
void spread(Natural& n, Natural& d, int by) {
  if (by > 0) n = n << by;
  if (by < 0) d = d << -by;
}

Value finite(std::uint64_t significand, bool more, std::int64_t exponent, bool negative) {
  return {significand | (more ? 1U : 0U), static_cast<std::int32_t>(exponent), ValueClass::finite, negative};
}

}  // namespace

Natural::Natural(std::uint64_t number) : limbs_{static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> kLimbBits)} { trim(); }

void Natural::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}

int Natural::bits() const { return limbs_.empty() ? 0 : static_cast<int>(limbs_.size()) * kLimbBits - std::countl_zero(limbs_.back()); }

Natural operator+(const Natural& a, const Natural& b) {
  Natural total;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < std::max(a.limbs_.size(), b.limbs_.size()) || carry != 0; ++i) {
    carry += (i < a.limbs_.size() ? a.limbs_[i] : 0U) + std::uint64_t{i < b.limbs_.size() ? b.limbs_[i] : 0U};
    total.limbs_.push_back(static_cast<std::uint32_t>(carry));
    carry >>= kLimbBits;
  }
  return total;
}

Natural operator-(const Natural& a, const Natural& b) {
  assert(a >= b);
  Natural rest = a;
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    const std::uint64_t taken = borrow + (i < b.limbs_.size() ? b.limbs_[i] : 0U);
    borrow = a.limbs_[i] < taken ? 1U : 0U;
    rest.limbs_[i] = static_cast<std::uint32_t>(a.limbs_[i] - taken);
  }
  rest.trim();
  return rest;
}

Natural operator*(const Natural& a, const Natural& b) {
  Natural total;
  total.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
      carry += std::uint64_t{a.limbs_[i]} * b.limbs_[j] + total.limbs_[i + j];
      total.limbs_[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= kLimbBits;
    }
    total.limbs_[i + b.limbs_.size()] = static_cast<std::uint32_t>(carry);
  }
  total.trim();
  return total;
}

Natural operator<<(const Natural& a, int places) {
  if (a.is_zero()) return a;
  const int bits = places % kLimbBits;
  Natural moved;
  moved.limbs_.assign(static_cast<std::size_t>(places / kLimbBits), 0);
  std::uint64_t carry = 0;
  for (const std::uint32_t limb : a.limbs_) {
    carry |= std::uint64_t{limb} << bits;
    moved.limbs_.push_back(static_cast<std::uint32_t>(carry));
    carry >>= kLimbBits;
  }
  moved.limbs_.push_back(static_cast<std::uint32_t>(carry));
  moved.trim();
  return moved;
}

std::strong_ordering operator<=>(const Natural& a, const Natural& b) {
  if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() <=> b.limbs_.size();
  return std::lexicographical_compare_three_way(a.limbs_.rbegin(), a.limbs_.rend(), b.limbs_.rbegin(), b.limbs_.rend());
}

Real real_of(const Value& value) {
  if (value.cls != ValueClass::finite) return {value.cls, value.cls == ValueClass::infinity && value.negative};
  return number(value.negative, Natural(value.significand), Natural(1), value.exponent);
}

Real nan_real() { return {ValueClass::nan}; }
Real infinite_real(bool negative) { return {ValueClass::infinity, negative}; }

Real negated(Real x) {
  x.negative = !x.negative && (x.cls == ValueClass::finite || is_infinite(x));
  return x;
}

Real absolute(Real x) {
  x.negative = false;
  return x;
}

Real sum(const Real& a, const Real& b) {
  if (is_nan(a) || is_nan(b) || (is_infinite(a) && is_infinite(b) && a.negative != b.negative)) return nan_real();
  if (is_infinite(a) || is_infinite(b)) return is_infinite(a) ? a : b;
  if (is_zero(a) || is_zero(b)) return is_zero(a) ? b : a;
  const Aligned both = aligned(a, b);
  if (a.negative == b.negative) return number(a.negative, both.a + both.b, both.denominator, both.exponent);
  const bool a_leads = both.a >= both.b;
  return number(a_leads ? a.negative : b.negative, a_leads ? both.a - both.b : both.b - both.a, both.denominator, both.exponent);
}

Real product(const Real& a, const Real& b) {
  if (is_nan(a) || is_nan(b) || (is_zero(a) && is_infinite(b)) || (is_infinite(a) && is_zero(b))) return nan_real();
  const bool negative = a.negative != b.negative;
  if (is_infinite(a) || is_infinite(b)) return infinite_real(negative);
  if (is_zero(a) || is_zero(b)) return {};
  return number(negative, a.numerator * b.numerator, a.denominator * b.denominator, a.exponent + b.exponent);
}

Real quotient(const Real& a, const Real& b) {
  if (is_nan(a) || is_nan(b) || is_zero(b) || (is_infinite(a) && is_infinite(b))) return nan_real();
  const bool negative = a.negative != b.negative;
  if (is_infinite(a)) return infinite_real(negative);
  if (is_zero(a) || is_infinite(b)) return {};
  // The square of the divisor stands under a root.
  Real result = a;
  for (int i = 0; i < (a.is_root ? 2 : 1); ++i) {
    result.numerator = result.numerator * b.denominator;
    result.denominator = result.denominator * b.numerator;
    result.exponent -= b.exponent;
  }
  result.negative = negative;
  return result;
}

Real square_root(Real x) {
  if (x.negative) return nan_real();
  x.is_root = x.cls == ValueClass::finite;
  return x;
}

std::strong_ordering compare(const Real& a, const Real& b) {
  const auto side = [](const Real& x) { return is_zero(x) ? 0 : (is_infinite(x) ? 2 : 1) * (x.negative ? -1 : 1); };
  if (side(a) != side(b) || a.cls != ValueClass::finite) return side(a) <=> side(b);
  const Aligned both = aligned(a, b);
  return a.negative ? both.b <=> both.a : both.a <=> both.b;
}

Value leading_bits(const Real& x) {
  if (x.cls != ValueClass::finite) return {.significand = 0, .exponent = 0, .cls = x.cls, .negative = x.negative};
  Natural n = x.numerator, d = x.denominator;
  const int longer = n.bits() - d.bits();
  if (!x.is_root) {
    constexpr int kWanted = 63;  // a quotient of 63 or 64 bits
    spread(n, d, kWanted - longer);
    const auto [whole, more] = divided(n, d);
    return finite(whole, more, x.exponent - (kWanted - longer), x.negative);
  }
  constexpr int kWanted = 124;  // a root of 62 or 63 bits
  // Twice the root's exponent: even.
  const int by = kWanted - longer - ((x.exponent - (kWanted - longer)) % 2 == 0 ? 0 : 1);
  spread(n, d, by);
  const auto [whole, more] = rooted(n, d);
  return finite(whole, more, (x.exponent - by) / 2, x.negative);
}

}  // namespace mx
