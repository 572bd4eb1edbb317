#include <array>
#include <bit>

#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

// e^x = 2^n * e^r with n an integer and 0 <= r < 0.694, in fixed point.
//
// Why the result is correctly rounded: e^x is irrational for every fp32 x but 0 (Lindemann), so it is never a tie, and the working error
// decides. r has an error below |n| * 2^-128 < 2^-120; each step of the series below loses less than 4 * 2^-126, all of them less than
// 14 * 2^-126 since r < 0.7; its tail is r^30 / 30! < 2^-123; together less than 2^-118 of a result in [1, 2.01); its head keeps 61 bits and more
// below the point. A wrong rounding needs an e^x nearer to a midpoint of fp32 numbers than these errors, while the nearest one among all 2^32
// inputs is 2^-52.6 away (tests/numerics/exp_exhaustive.cpp finds and prints it).

namespace mx::f32 {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr int kDegree = 29;
constexpr int kSeriesBits = 126;

/// 2^128 * ln 2, rounded down: the fractional digits of OEIS A068426 in hexadecimal.
constexpr Uint128 kLn2 = (Uint128{0xB17217F7D1CF79ABU} << 64) | 0xC9E3B39803F2F6AFU;

/// 2^kSeriesBits / k!, rounded down.
constexpr std::array<Uint128, kDegree + 1> inverse_factorials() {
  std::array<Uint128, kDegree + 1> out{};
  out[0] = Uint128{1} << kSeriesBits;
  for (unsigned k = 1; k <= kDegree; ++k) out[k] = out[k - 1] / k;
  return out;
}

constexpr std::array<Uint128, kDegree + 1> kInverseFactorials = inverse_factorials();

/// floor(a * b / 2^128), at most three too small.
Uint128 multiply_high(Uint128 a, Uint128 b) {
  const auto a_low = static_cast<std::uint64_t>(a);
  const auto a_high = static_cast<std::uint64_t>(a >> 64);
  const auto b_low = static_cast<std::uint64_t>(b);
  const auto b_high = static_cast<std::uint64_t>(b >> 64);
  const Uint128 middle = (Uint128{a_low} * b_high >> 64) + (Uint128{a_high} * b_low >> 64);
  return Uint128{a_high} * b_high + middle;
}

/// x * 2^48, exactly; 2^-26 < |x| < 128.
std::int64_t fixed_48(std::uint32_t x) {
  const int exponent = static_cast<int>((x >> 23) & 0xFFU) - 127 - 23 + 48;
  const auto significand = static_cast<std::int64_t>((x & 0x7FFFFFU) | 0x800000U);
  const std::int64_t magnitude = significand << exponent;
  return (x >> 31) != 0 ? -magnitude : magnitude;
}

/// floor(x / ln 2), or one less when x / ln 2 is within 2^-21 above an integer; never more, so r = x - n ln 2 lies in [0, 0.694).
std::int64_t power_of_two(std::int64_t x_48) {
  constexpr std::int64_t kInverseLn2 = 0x5C551D94;  // 2^30 / ln 2, rounded down
  const std::int64_t x_24 = x_48 >> 24;
  const std::int64_t quotient_24 = (x_24 * kInverseLn2) >> 30;
  // For negative x the truncated constant makes the quotient up to 104 * 2^24 / 2^30 < 2 units too large.
  return (quotient_24 - 2) >> 24;
}

}  // namespace

std::uint32_t exp(std::uint32_t x) {
  constexpr std::uint32_t kTiny = 0x33000000U;   // 2^-25: e^x rounds to 1 for every x up to it
  constexpr std::uint32_t kLarge = 0x42D00000U;  // 104: e^104 is above the largest number, e^-104 below half the smallest
  if (is_nan(x)) return kNan;
  const std::uint32_t magnitude = x & 0x7FFFFFFFU;
  if (magnitude <= kTiny) return kOne;
  if (magnitude >= kLarge) return (x >> 31) != 0 ? 0U : 0x7F800000U;

  const std::int64_t x_48 = fixed_48(x);
  const std::int64_t n = power_of_two(x_48);
  // The integer part of x drops out of the top: r is below 1, so the arithmetic modulo 1 gives it whole.
  const Uint128 r = (static_cast<Uint128>(x_48) << 80) - static_cast<Uint128>(n) * kLn2;

  Uint128 series = kInverseFactorials[kDegree];
  for (std::size_t k = kDegree; k > 0; --k) series = kInverseFactorials[k - 1] + multiply_high(r, series);

  // The lowest bit stands for all that lies below: e^x is never on such a grid.
  const auto head = static_cast<std::uint64_t>(series >> 64) | 1U;
  return to_f32(Value{.significand = head, .exponent = static_cast<std::int32_t>(n) - kSeriesBits + 64, .cls = ValueClass::finite});
}

}  // namespace mx::f32
