#include "model/numerics/fixed128.hpp"

#include <array>
#include <cstddef>

#include "model/fault.hpp"

namespace mx::fixed {
namespace {

using fault::Fault;
using fault::planted;

// e^r = e^(i/64) * e^s with s < 1/64: a table and the first terms of the series of e^s.
constexpr std::size_t kExpSteps = 64;
constexpr int kExpStepBits = 6;
constexpr std::size_t kExpDegree = 14;
constexpr int kSeriesBits = 126;
constexpr std::size_t kExpTableDegree = 34;

/// 2^kSeriesBits / k!, rounded down.
constexpr std::array<Uint128, kExpTableDegree + 1> inverse_factorials() {
  std::array<Uint128, kExpTableDegree + 1> out{};
  out[0] = Uint128{1} << kSeriesBits;
  for (unsigned k = 1; k <= kExpTableDegree; ++k) out[k] = out[k - 1] / k;
  return out;
}

constexpr std::array<Uint128, kExpTableDegree + 1> kInverseFactorials = inverse_factorials();

/// The series of e^r for r * 2^128 up to r^degree, in units of 2^-kSeriesBits.
constexpr Uint128 exp_series(Uint128 r, std::size_t degree) {
  Uint128 series = kInverseFactorials[degree];
  for (std::size_t k = degree; k > 0; --k) series = kInverseFactorials[k - 1] + multiply_high(r, series);
  return series;
}

constexpr std::array<Uint128, kExpSteps> exp_table() {
  std::array<Uint128, kExpSteps> out{};
  for (std::size_t i = 0; i < kExpSteps; ++i) out[i] = exp_series(Uint128{i} << (128 - kExpStepBits), kExpTableDegree);
  return out;
}

/// e^(i/64) in units of 2^-kSeriesBits.
constexpr std::array<Uint128, kExpSteps> kExpTable = exp_table();

// ln m = ln(m * c) - ln c, where c is at least 1/m, and so near to it that m * c = 1 + z with z < 2^-8 + 2^-16; the series of ln(1 + z).
constexpr std::size_t kLnSteps = 256;
constexpr int kLnStepBits = 8;
constexpr unsigned kReciprocalBits = 16;
constexpr std::uint64_t kLnDegree = 14;

/// c * 2^kReciprocalBits for 1 + i/256 <= m: the reciprocal of that bound, rounded up.
constexpr std::uint64_t reciprocal(std::size_t i) {
  const std::uint64_t bound = kLnSteps + i;
  return ((std::uint64_t{kLnSteps} << kReciprocalBits) + bound - 1) / bound;
}

/// 2 * atanh(a / b) in units of 2^-128, a / b < 2^-8.
constexpr Uint128 twice_atanh(std::uint64_t a, std::uint64_t b) {
  const Uint128 shifted = Uint128{a} << 64;
  const Uint128 s = (shifted / b << 64) | (((shifted % b) << 64) / b);
  const Uint128 square = multiply_high(s, s);
  Uint128 sum = 0;
  unsigned k = 1;
  for (Uint128 power = s; power != 0; power = multiply_high(power, square)) {
    sum += power / k;
    k += 2;
  }
  return 2 * sum;
}

/// -ln c, each from the one before: ln(c / c') = 2 * atanh((c - c') / (c + c')).
constexpr std::array<Uint128, kLnSteps> ln_table() {
  std::array<Uint128, kLnSteps> out{};
  for (std::size_t i = 1; i < kLnSteps; ++i) {
    const std::uint64_t before = reciprocal(i - 1);
    const std::uint64_t now = reciprocal(i);
    out[i] = out[i - 1] + twice_atanh(before - now, before + now);
  }
  return out;
}

/// In units of 2^-128. A step loses less than 24 units, so no entry is off by 2^13.
constexpr std::array<Uint128, kLnSteps> kLnTable = ln_table();

/// 2^128 / k, rounded down.
constexpr std::array<Uint128, kLnDegree + 1> inverse_integers() {
  std::array<Uint128, kLnDegree + 1> out{};
  for (unsigned k = 2; k <= kLnDegree; ++k) out[k] = ~Uint128{0} / k;
  return out;
}

constexpr std::array<Uint128, kLnDegree + 1> kInverses = inverse_integers();

/// floor(x / ln 2), or one less when x / ln 2 is within 2^-21 above an integer; never more, so x - n ln 2 lies in [0, 0.694).
std::int64_t power_of_two(std::int64_t x_48) {
  constexpr std::int64_t kInverseLn2 = 0x5C551D94;  // 2^30 / ln 2, rounded down
  const std::int64_t x_24 = x_48 >> 24;
  const std::int64_t quotient_24 = (x_24 * kInverseLn2) >> 30;
  // For negative x the truncated constant makes the quotient up to 2^31 / 2^30 = 2 units too large.
  return (quotient_24 - 2) >> 24;
}

}  // namespace

std::int64_t fixed_48(std::uint32_t x) {
  const int exponent = static_cast<int>((x >> 23) & 0xFFU) - 127 - 23 + 48;
  const auto significand = static_cast<std::int64_t>((x & 0x7FFFFFU) | 0x800000U);
  const std::int64_t magnitude = significand << exponent;
  return (x >> 31) != 0 ? -magnitude : magnitude;
}

// A step of a series loses less than 5 units of 2^-126. So an entry of the table lacks less than 35 * 5 units and its tail 1 / 35!, the series of
// the rest less than 6 units and its tail 2^-130; their product is cut off at 3 * 2^-124. With factors below 2.72 and 1.02: less than 2^-118.
Uint128 exp_of_fraction(Uint128 r) {
  constexpr int kRest = 128 - kExpStepBits;
  const auto step = static_cast<std::size_t>(r >> kRest);
  const Uint128 rest = r & ((Uint128{1} << kRest) - 1);
  const std::size_t degree = planted(Fault::exp_series_too_short) ? 3 : kExpDegree;
  return multiply_high(kExpTable[step], exp_series(rest, degree));
}

// r is off by less than |n| * 2^-128 < 2^-120.
Scaled exp(std::int64_t x_48) {
  const std::int64_t n = power_of_two(x_48);
  // The integer part of x drops out of the top: r is below 1, so the arithmetic modulo 1 gives it whole.
  const Uint128 r = (static_cast<Uint128>(x_48) << 80) - static_cast<Uint128>(n) * kLn2;
  return {exp_of_fraction(r), static_cast<int>(n) - 124};
}

/// Of a number that is not zero.
Split split(Uint128 significand, int exponent) {
  const int length = bit_length(significand);
  return {significand << (128 - length), exponent + length - 1};  // NOLINT(clang-analyzer-core.UndefinedBinaryOperatorResult): length is at least 1
}

Split one_plus(const Value& x) {
  constexpr int kUnitOfOne = 104;
  const Split alone = split(x.significand, x.exponent);
  if (alone.exponent < 23) {
    // An x of 64 bits from 2^-40 on ends at 2^-103 or above.
    const Uint128 one = Uint128{1} << kUnitOfOne;
    const Uint128 magnitude = alone.m >> (127 - kUnitOfOne - alone.exponent);
    return split(x.negative ? one - magnitude : one + magnitude, -kUnitOfOne);
  }
  const Uint128 total = alone.m + (alone.exponent < 128 ? (Uint128{1} << 127) >> alone.exponent : 0);
  if (total >= alone.m) return {total, alone.exponent};
  return {(total >> 1) | (Uint128{1} << 127), alone.exponent + 1};
}

// The product m * c is too small by less than 3 * 2^-126, or exact where c is 1; the steps of the series lose less than 8 units in all, and its
// tail is below z^15 / 15 < 2^-123.
Uint128 ln(Uint128 m) {
  const auto step = static_cast<std::size_t>(m >> (127 - kLnStepBits)) - kLnSteps;
  const Uint128 c = Uint128{reciprocal(step)} << (127 - kReciprocalBits);
  const Uint128 z = (multiply_high(m, c) - (Uint128{1} << 126)) << 2;
  const std::size_t degree = planted(Fault::ln_series_too_short) ? 2 : kLnDegree;
  Uint128 inner = kInverses[degree];
  for (std::size_t k = degree; k > 2; --k) inner = kInverses[k - 1] - multiply_high(z, inner);
  return kLnTable[step] + z - multiply_high(z, multiply_high(z, inner));
}

Uint128 quotient(Uint128 a, Uint128 b) {
  // 32 bits of the quotient at a time, with a divisor of 96 bits.
  const Uint128 divisor = b >> 31;
  Uint128 rest = a >> 31;
  Uint128 result = 0;
  for (int digit = 0; digit < 3; ++digit) {
    rest <<= 32;
    result = (result << 32) | (rest / divisor);
    rest %= divisor;
  }
  return result;
}

Value just_above(Uint128 number, int unit_exponent, bool negative) {
  const int zeros = 128 - bit_length(number);
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the number is not zero.
  const auto head = static_cast<std::uint64_t>((number << zeros) >> 64);
  return {.significand = head | 1U, .exponent = unit_exponent + 64 - zeros, .cls = ValueClass::finite, .negative = negative};
}

}  // namespace mx::fixed
