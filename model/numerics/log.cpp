#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/fixed128.hpp"

// log2 x = e + ln(m) / ln 2 and ln(1 + x) = e ln 2 + ln m, where x or 1 + x is m * 2^e with 1 <= m < 2.
//
// Why the results are correctly rounded: log2 x is irrational for every rational x but the powers of two (whose logarithms are integers of eight
// bits, no ties), ln(1 + x) for every x but 0 (Lindemann). So there are no ties, and the working error decides. It is below 2^-111, and below 2^-113
// where the result is below 1; the results are at least 2^-25 (below that, ln(1 + x) rounds to x), which leaves less than 2^-88 of the result. A
// wrong rounding needs a logarithm nearer to a midpoint of fp32 numbers than that, while among all 2^32 inputs the nearest log2 x is 2^-51.3
// of itself away, the nearest ln(1 + x) 2^-66.4 (tests/proof/functions.cpp finds them).

namespace mx::f32 {
namespace {

using fixed::Uint128;

constexpr std::uint32_t kInfinity = 0x7F800000U;

/// Logarithms are below 151: eight bits above the point.
constexpr int kUnit = 120;

/// fp32 bits of whole + fraction, or of fraction - whole where the exponent is negative; both in units of 2^-kUnit, whole the larger one then.
std::uint32_t rounded(bool negative, Uint128 whole, Uint128 fraction) {
  return to_f32(fixed::just_above(negative ? whole - fraction : whole + fraction, -kUnit, negative));
}

}  // namespace

std::uint32_t log2(std::uint32_t x) {
  if (is_nan(x)) return kNan;
  if ((x & ~kSign) == 0) return kSign | kInfinity;
  if ((x & kSign) != 0) return kNan;
  if (x == kInfinity) return kInfinity;
  if (x == kOne) return 0;
  const Value value = decode(kF32, x);
  const fixed::Split parts = fixed::split(value.significand, value.exponent);
  const bool negative = parts.exponent < 0;
  const auto whole = static_cast<std::uint64_t>(negative ? -parts.exponent : parts.exponent);
  // ln m in units of 2^-128 by 1 / ln 2 in units of 2^-127: units of 2^-127.
  const Uint128 fraction = fixed::multiply_high(fixed::ln(parts.m), fixed::kInverseLn2) >> (127 - kUnit);
  return rounded(negative, Uint128{whole} << kUnit, fraction);
}

std::uint32_t log1p(std::uint32_t x) {
  constexpr std::uint32_t kTiny = 0x33000000U;  // 2^-25: below it x^2 / 2 is less than half the distance of x from its neighbours
  constexpr std::uint32_t kMinusOne = 0xBF800000U;
  if (is_nan(x)) return kNan;
  if ((x & ~kSign) < kTiny) return x;
  if (x == kInfinity) return kInfinity;
  if (x == kMinusOne) return kSign | kInfinity;
  if (x > kMinusOne) return kNan;
  const fixed::Split parts = fixed::one_plus(decode(kF32, x));
  const bool negative = parts.exponent < 0;
  const auto power = static_cast<std::uint64_t>(negative ? -parts.exponent : parts.exponent);
  return rounded(negative, (fixed::kLn2 >> (128 - kUnit)) * power, fixed::ln(parts.m) >> (128 - kUnit));
}

}  // namespace mx::f32
