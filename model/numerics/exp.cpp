#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/fixed128.hpp"

// Why the results are correctly rounded: e^x is irrational for every fp32 x but 0 (Lindemann), and 2^x for every x that is no integer (it is a
// proper root of a power of two), so neither is ever a tie but 2^-150, and the working error decides. That is below 2^-117 of the result
// (fixed128.hpp). A wrong rounding needs a result nearer to a midpoint of fp32 numbers than that, while among all 2^32 inputs the nearest e^x is
// 2^-52.6 of itself away, the nearest 2^x 2^-58.9 (tests/proof/functions.cpp finds them).

namespace mx::f32 {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
/// 2^-25: e^x and 2^x round to 1 for every |x| up to it.
constexpr std::uint32_t kTiny = 0x33000000U;

bool is_negative(std::uint32_t x) { return (x >> 31) != 0; }

}  // namespace

std::uint32_t exp(std::uint32_t x) {
  constexpr std::uint32_t kLarge = 0x42D00000U;  // 104: e^104 is above the largest number, e^-104 below half the smallest
  if (is_nan(x)) return kNan;
  const std::uint32_t magnitude = x & 0x7FFFFFFFU;
  if (magnitude <= kTiny) return kOne;
  if (magnitude >= kLarge) return is_negative(x) ? 0U : kInfinity;
  const fixed::Scaled result = fixed::exp(fixed::fixed_48(x));
  return to_f32(fixed::just_above(result.significand, result.exponent, false));
}

std::uint32_t exp2(std::uint32_t x) {
  constexpr std::uint32_t kLarge = 0x43160000U;  // 150: 2^-150 is half the smallest number, a tie that goes to 0
  if (is_nan(x)) return kNan;
  const std::uint32_t magnitude = x & 0x7FFFFFFFU;
  if (magnitude <= kTiny) return kOne;
  if (magnitude >= kLarge) return is_negative(x) ? 0U : kInfinity;

  const std::int64_t x_48 = fixed::fixed_48(x);
  const auto n = static_cast<std::int32_t>(x_48 >> 48);
  const auto fraction = static_cast<fixed::Uint128>(x_48) << 80;
  const fixed::Uint128 r = fixed::multiply_high(fraction, fixed::kLn2);
  return to_f32(fixed::just_above(fixed::exp_of_fraction(r), n - 124, false));
}

}  // namespace mx::f32
