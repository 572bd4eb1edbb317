#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/fixed128.hpp"

// tanh |x| = (1 - t) / (1 + t) with t = e^(-2 |x|).
//
// Why the result is correctly rounded: tanh x is irrational for every fp32 x but 0 (Lindemann), so it is never a tie, and the working error decides.
// t is off by less than 2^-117, the quotient by less than 2^-93 in all, and it is at least 2^-12.1: less than 2^-80 of the result. A wrong rounding
// needs a tanh x nearer to a midpoint of fp32 numbers than that, while among all 2^32 inputs the nearest is 2^-50.3 of itself
// away (tests/proof/functions.cpp finds it).

namespace mx::f32 {
namespace {

using fixed::Uint128;

constexpr int kUnit = 126;

/// e^(-2 x) for x * 2^48, in units of 2^-kUnit; 2^-12 <= x < 10.
Uint128 decay(std::int64_t x_48) {
  const fixed::Scaled power = fixed::exp(-2 * x_48);
  const int shift = power.exponent + kUnit;
  return shift >= 0 ? power.significand << shift : power.significand >> -shift;
}

}  // namespace

std::uint32_t tanh(std::uint32_t x) {
  constexpr std::uint32_t kTiny = 0x39800000U;   // 2^-12: below it x^3 / 3 is less than half the distance of x from its neighbours
  constexpr std::uint32_t kLarge = 0x41200000U;  // 10: tanh x is above 1 - 2^-25 from 9.02 on
  if (is_nan(x)) return kNan;
  const std::uint32_t magnitude = x & ~kSign;
  if (magnitude < kTiny) return x;
  if (magnitude >= kLarge) return kOne | (x & kSign);
  const Uint128 one = Uint128{1} << kUnit;
  const Uint128 t = decay(fixed::fixed_48(magnitude));
  return to_f32(fixed::just_above(fixed::quotient(one - t, one + t), -96, (x & kSign) != 0));
}

}  // namespace mx::f32
