#include "model/numerics/wide.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/fixed128.hpp"

namespace mx::wide {
namespace {

using fault::Fault;
using fault::planted;
using fixed::Uint128;

constexpr int kPrecision = 64;
constexpr std::int64_t kExponentLimit = std::int64_t{1} << 30;

Value nan() { return {.significand = 0, .exponent = 0, .cls = ValueClass::nan, .negative = false}; }
Value infinity(bool negative) { return {.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = negative}; }
Value zero(bool negative) { return {.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = negative}; }

bool is_nan(const Value& a) { return a.cls == ValueClass::nan; }
bool is_zero(const Value& a) { return a.cls == ValueClass::zero; }
bool is_infinite(const Value& a) { return a.cls == ValueClass::infinity; }

Value with_sign(Value a, bool negative) {
  a.negative = negative;
  return a;
}

/// significand * 2^exponent with the significand's top bit set.
struct Normal {
  std::uint64_t significand;
  std::int64_t exponent;

  explicit Normal(const Value& a)
      : significand(a.significand << std::countl_zero(a.significand)), exponent(a.exponent - std::countl_zero(a.significand)) {}
};

/// number * 2^exponent rounded to 64 bits; where number is longer, its lowest bit may stand for all that lies below it.
Value rounded(Uint128 number, std::int64_t exponent, bool negative) {
  if (number == 0) return zero(false);
  const int excess = fixed::bit_length(number) - kPrecision;
  if (excess > 0) {
    const Uint128 half = Uint128{1} << (excess - 1);
    const Uint128 dropped = number & ((half << 1) - 1);
    number >>= excess;
    exponent += excess;
    const bool tie_goes_up = planted(Fault::wide_ties_away) || (number & 1U) != 0;
    if (dropped > half || (dropped == half && tie_goes_up)) ++number;
    if (number >> kPrecision != 0) {
      number >>= 1;
      ++exponent;
    }
  }
  if (std::abs(exponent) > kExponentLimit) {
    throw Error(ErrorCode::usage, "a result near 2^" + std::to_string(exponent) + " is outside 2^(+-2^30), the range of wide arithmetic");
  }
  return canonical({.significand = static_cast<std::uint64_t>(number),
                    .exponent = static_cast<std::int32_t>(exponent),
                    .cls = ValueClass::finite,
                    .negative = negative});
}

/// number / 2^shift, the lowest bit set when anything was cut off.
Uint128 shifted_right(Uint128 number, std::int64_t shift) {
  if (shift == 0) return number;
  const bool all = shift >= 128;
  const Uint128 kept = all ? 0 : number >> shift;
  const bool lost = all ? number != 0 : (number << (128 - shift)) != 0;
  return kept | (lost && !planted(Fault::wide_drops_sticky) ? 1U : 0U);
}

/// a + b of finite numbers.
Value sum(const Value& a, const Value& b) {
  const Normal x(a);
  const Normal y(b);
  const bool a_leads = x.exponent > y.exponent || (x.exponent == y.exponent && x.significand >= y.significand);
  const Normal& large = a_leads ? x : y;
  const Normal& small = a_leads ? y : x;
  // One bit above for the carry, 63 below: what is shifted out of those is far below half a unit, so one bit can stand for it.
  constexpr int kBelow = 63;
  const Uint128 first = Uint128{large.significand} << kBelow;
  const Uint128 second = shifted_right(Uint128{small.significand} << kBelow, large.exponent - small.exponent);
  const bool negative = a_leads ? a.negative : b.negative;
  return rounded(a.negative == b.negative ? first + second : first - second, large.exponent - kBelow, negative);
}

/// floor(sqrt(n)), bit by bit.
std::uint64_t integer_root(Uint128 n) {
  std::uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t candidate = root | (std::uint64_t{1} << bit);
    if (Uint128{candidate} * candidate <= n) root = candidate;
  }
  return root;
}

/// -1, 0 or 1 as |a| is below, at or above |b|; finite numbers.
int compare_magnitudes(const Value& a, const Value& b) {
  const Normal x(a);
  const Normal y(b);
  if (x.exponent != y.exponent) return x.exponent < y.exponent ? -1 : 1;
  return static_cast<int>(x.significand > y.significand) - static_cast<int>(x.significand < y.significand);
}

/// Numbers of each class and sign in ascending order: -Inf, negative, zero, positive, Inf.
int order_of(const Value& a) {
  if (is_zero(a)) return 0;
  const int size = is_infinite(a) ? 2 : 1;
  return a.negative ? -size : size;
}

}  // namespace

Value add(const Value& a, const Value& b) {
  if (is_nan(a) || is_nan(b)) return nan();
  if (is_infinite(a) || is_infinite(b)) {
    if (is_infinite(a) && is_infinite(b) && a.negative != b.negative) return nan();
    return infinity(is_infinite(a) ? a.negative : b.negative);
  }
  if (is_zero(a) && is_zero(b)) return zero(a.negative && b.negative);
  if (is_zero(a)) return canonical(b);
  if (is_zero(b)) return canonical(a);
  return sum(a, b);
}

Value sub(const Value& a, const Value& b) { return add(a, with_sign(b, !b.negative)); }

Value mul(const Value& a, const Value& b) {
  const bool negative = a.negative != b.negative;
  if (is_nan(a) || is_nan(b)) return nan();
  if (is_infinite(a) || is_infinite(b)) return is_zero(a) || is_zero(b) ? nan() : infinity(negative);
  if (is_zero(a) || is_zero(b)) return zero(negative);
  return rounded(Uint128{a.significand} * b.significand, std::int64_t{a.exponent} + b.exponent, negative);
}

Value div(const Value& a, const Value& b) {
  const bool negative = a.negative != b.negative;
  if (is_nan(a) || is_nan(b)) return nan();
  if (is_infinite(a)) return is_infinite(b) ? nan() : infinity(negative);
  if (is_zero(b)) return is_zero(a) ? nan() : infinity(negative);
  if (is_zero(a) || is_infinite(b)) return zero(negative);
  const Normal x(a);
  const Normal y(b);
  // 64 or 65 bits of quotient, two more, and one that stands for the rest.
  const Uint128 dividend = Uint128{x.significand} << 64;
  const Uint128 rest = (dividend % y.significand) << 2;
  const Uint128 quotient = (dividend / y.significand << 2) | (rest / y.significand);
  const bool more = rest % y.significand != 0 && !planted(Fault::wide_quotient_loses_rest);
  return rounded((quotient << 1) | (more ? 1U : 0U), x.exponent - y.exponent - 67, negative);
}

Value sqrt(const Value& x) {
  if (is_nan(x) || (x.negative && !is_zero(x))) return nan();
  if (is_zero(x) || is_infinite(x)) return canonical(x);
  const Normal a(x);
  // An even exponent, and 127 or 128 bits under the root: 64 bits of root.
  const int shift = (a.exponent & 1) == 0 ? 64 : 63;
  const Uint128 n = Uint128{a.significand} << shift;
  const std::uint64_t root = integer_root(n);
  // (root + 1/2)^2 = root^2 + root + 1/4: never a tie.
  const bool up = n - Uint128{root} * root > root && !planted(Fault::wide_root_rounds_down);
  return rounded(Uint128{root} + (up ? 1U : 0U), (a.exponent - shift) / 2, false);
}

Value exp(const Value& x) {
  constexpr int kUnit = 97;  // |x| < 2^30 leaves 97 bits below the point
  if (is_nan(x)) return nan();
  if (is_zero(x)) return {.significand = 1, .exponent = 0, .cls = ValueClass::finite, .negative = false};
  if (is_infinite(x) || Normal(x).exponent + kPrecision > 30) return x.negative ? zero(false) : infinity(false);
  const int shift = x.exponent + kUnit;
  const Uint128 magnitude = shift >= 0 ? Uint128{x.significand} << shift : shift > -kPrecision ? Uint128{x.significand} >> -shift : 0;
  // |x| / ln 2 in units of 2^-96, too small by less than 4.
  const Uint128 quotient = fixed::multiply_high(magnitude, fixed::kInverseLn2);
  // e^x = 2^n e^r: r is at least 0 and just above ln 2 at most. The arithmetic is modulo 1 (2^128 units).
  const auto n = x.negative ? -static_cast<std::int64_t>((quotient + 4) >> 96) - 1 : static_cast<std::int64_t>(quotient >> 96);
  const Uint128 fraction = magnitude << (128 - kUnit);
  const Uint128 r = (x.negative ? -fraction : fraction) - static_cast<Uint128>(n) * fixed::kLn2;
  return rounded(fixed::exp_of_fraction(r), n - 124, false);
}

Value log1p(const Value& x) {
  const Value minus_one{.significand = 1, .exponent = 0, .cls = ValueClass::finite, .negative = true};
  if (is_nan(x) || less(x, minus_one)) return nan();
  if (is_zero(x) || is_infinite(x)) return canonical(x);
  if (canonical(x) == minus_one) return infinity(true);
  if (Normal(x).exponent + kPrecision <= -40) {
    // x (1 - x / 2): the next term is below 2^-80 of it.
    const Value half{.significand = 1, .exponent = -1, .cls = ValueClass::finite, .negative = true};
    return mul(x, add(with_sign(minus_one, false), mul(x, half)));
  }
  const fixed::Split parts = fixed::one_plus(x);
  const bool negative = parts.exponent < 0;
  const auto power = static_cast<std::uint64_t>(negative ? -parts.exponent : parts.exponent);
  // As many bits above the point as the exponent has: |exponent| * ln 2 + ln m, or their difference. ln m is off by less than 2^-114, the result is
  // at least 2^-41.
  const int above = fixed::bit_length(power);
  const Uint128 whole = (fixed::kLn2 >> above) * power;
  const Uint128 fraction = fixed::ln(parts.m) >> above;
  return rounded(negative ? whole - fraction : whole + fraction, above - 128, negative);
}

bool less(const Value& a, const Value& b) {
  if (is_nan(a) || is_nan(b)) return false;
  if (order_of(a) != order_of(b)) return order_of(a) < order_of(b);
  if (a.cls != ValueClass::finite) return false;
  const int order = compare_magnitudes(a, b);
  return a.negative ? order > 0 : order < 0;
}

Value min(const Value& a, const Value& b) {
  if (is_nan(a) || is_nan(b)) return nan();
  return less(b, a) ? b : a;
}

Value max(const Value& a, const Value& b) {
  if (is_nan(a) || is_nan(b)) return nan();
  return less(a, b) ? b : a;
}

Value from_f64(std::uint64_t bits) {
  const bool negative = (bits >> 63) != 0;
  const auto field = static_cast<std::int32_t>((bits >> 52) & 0x7FFU);
  const std::uint64_t mantissa = bits & 0xFFFFFFFFFFFFFU;
  if (field == 0x7FF) return mantissa != 0 ? nan() : infinity(negative);
  if (field == 0 && mantissa == 0) return zero(negative);
  // Subnormals share the exponent of the smallest normal numbers, without the hidden bit.
  const std::uint64_t significand = field == 0 ? mantissa : mantissa | (std::uint64_t{1} << 52);
  return canonical({.significand = significand, .exponent = std::max(field, 1) - 1075, .cls = ValueClass::finite, .negative = negative});
}

std::uint64_t to_f64(const Value& value) {
  constexpr std::uint64_t kInfinity = 0x7FF0000000000000U;
  constexpr std::int64_t kSmallest = -1074;
  const std::uint64_t sign = value.negative ? std::uint64_t{1} << 63 : 0;
  if (is_nan(value)) return 0x7FF8000000000000U;
  if (is_infinite(value)) return sign | kInfinity;
  if (is_zero(value)) return sign;
  const Normal a(value);
  if (a.exponent + kPrecision > 1024) return sign | kInfinity;
  // The unit of the result: 53 bits, or the smallest subnormal number.
  const std::int64_t unit = std::max(a.exponent + kPrecision - 53, kSmallest);
  const Uint128 below = shifted_right(Uint128{a.significand} << 64, unit - a.exponent);  // the unit is bit 64 here
  const auto head = static_cast<std::uint64_t>(below >> 64);
  const auto tail = static_cast<std::uint64_t>(below);
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  const std::uint64_t units = head + (tail > kHalf || (tail == kHalf && (head & 1U) != 0) ? 1U : 0U);
  // Units from 2^52 on carry the hidden bit into the exponent field, and a carry out of 53 bits goes on into it: Inf included.
  return sign | (units + (static_cast<std::uint64_t>(unit - kSmallest) << 52));
}

}  // namespace mx::wide
