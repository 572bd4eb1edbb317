#pragma once
// Fixed-point arithmetic in 128 bits: what the elementary functions share. For .cpp files of this folder. A number is an integer times a unit;
// every bound on an error below is absolute.

#include <bit>
#include <cstdint>

#include "model/numerics/value.hpp"

namespace mx::fixed {

__extension__ using Uint128 = unsigned __int128;

/// 2^128 * ln 2, rounded down: the digits of OEIS A002162 in hexadecimal.
inline constexpr Uint128 kLn2 = (Uint128{0xB17217F7D1CF79ABU} << 64) | 0xC9E3B39803F2F6AFU;

/// 2^127 / ln 2, rounded down: the digits of OEIS A007525 in hexadecimal.
inline constexpr Uint128 kInverseLn2 = (Uint128{0xB8AA3B295C17F0BBU} << 64) | 0xBE87FED0691D3E88U;

/// floor(a * b / 2^128), at most two too small.
constexpr Uint128 multiply_high(Uint128 a, Uint128 b) {
  const auto a_low = static_cast<std::uint64_t>(a);
  const auto a_high = static_cast<std::uint64_t>(a >> 64);
  const auto b_low = static_cast<std::uint64_t>(b);
  const auto b_high = static_cast<std::uint64_t>(b >> 64);
  // Three products are cut off at 2^128 without their carries, the fourth is left out.
  return Uint128{a_high} * b_high + (Uint128{a_low} * b_high >> 64) + (Uint128{a_high} * b_low >> 64);
}

/// How many bits it takes to write a number: 0 for 0.
constexpr int bit_length(Uint128 number) {
  const auto high = static_cast<std::uint64_t>(number >> 64);
  return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(number));
}

/// x * 2^48 of finite fp32 bits, exactly; 2^-25 <= |x| < 2^15.
std::int64_t fixed_48(std::uint32_t x);

/// significand * 2^exponent.
struct Scaled {
  Uint128 significand;
  int exponent;
};

/// e^r for r * 2^128 (so 0 <= r < 1), in units of 2^-124; off by less than 2^-118.
Uint128 exp_of_fraction(Uint128 r);

/// e^x for x * 2^48, |x| < 2^7; off by less than 2^-117 of itself.
Scaled exp(std::int64_t x_48);

/// m * 2^exponent, m in units of 2^-127 and from 1 up to 2.
struct Split {
  Uint128 m;
  int exponent;
};

/// significand * 2^exponent, significand != 0.
Split split(Uint128 significand, int exponent);

/// 1 + x of a finite x, what lies below 2^-127 of it cut off; 2^-40 <= |x|, -1 < x.
Split one_plus(const Value& x);

/// ln m for m * 2^127, 1 <= m < 2, in units of 2^-128; off by less than 2^-114, and where z = m - 1 is below 2^-8 by less than 2^-122 + z^15.
Uint128 ln(Uint128 m);

/// a / b in units of 2^-96, a < b, 2^126 <= b < 2^127; off by less than 2^-93.
Uint128 quotient(Uint128 a, Uint128 b);

/// A value just above number * 2^unit_exponent, number != 0: its top 64 bits, the lowest of them set to stand for all that lies below. It rounds
/// to fp32 as any number does that lies between this one and the next in the top 63 bits.
Value just_above(Uint128 number, int unit_exponent, bool negative);

}  // namespace mx::fixed
