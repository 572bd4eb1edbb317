#include <array>
#include <cstddef>

#include "model/fault.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/fixed128.hpp"

// erf |x| near 0 is |x| times the first terms of its series, elsewhere the Taylor series around the next lower multiple of 1/16.
//
// Why the result is correctly rounded: near 0 the terms left out are below 2^-103 of it. Elsewhere the working error is below 2^-104 (see kTaylor),
// and erf is at least 2^-12: less than 2^-92 of the result. No fp32 x but 0 gives a tie, and none a value so near to one: among all 2^32 inputs the
// nearest is 2^-56.4 of itself away (tests/proof/functions.cpp finds it).

namespace mx::f32 {
namespace {

using fixed::Uint128;
__extension__ using Int128 = __int128;

/// 2^127 * 2 / sqrt(pi), rounded down: the digits of OEIS A190732 in hexadecimal.
constexpr Uint128 kTwoBySqrtPi = (Uint128{0x906EBA8214DB688DU} << 64) | 0x71D48A7F6BFEC344U;

constexpr std::size_t kCenters = 64;
constexpr int kCenterBits = 4;  // centers are multiples of 2^-4
constexpr std::size_t kDegree = 22;
/// Coefficients are below 2 and are multiplied by small integers while the table is made.
constexpr int kUnit = 118;

using Taylor = std::array<Int128, kDegree + 1>;

/// Taylor coefficients of erf at i / 16, given its value and its derivative there. The derivative g satisfies g' = -2 x g, so its own coefficients
/// follow (n + 1) g[n+1] = -2 (i / 16) g[n] - 2 g[n-1], and those of erf are g[n-1] / n.
constexpr Taylor coefficients(std::size_t i, Int128 value, Int128 derivative) {
  Taylor out{value, derivative};
  Int128 before = 0;
  Int128 now = derivative;
  for (unsigned n = 1; n < kDegree; ++n) {
    const Int128 next = -(static_cast<Int128>(i) * now / 8 + 2 * before) / static_cast<int>(n);
    before = now;
    now = next;
    out[n + 1] = now / static_cast<int>(n + 1);
  }
  return out;
}

/// Value and derivative 1/16 further on.
constexpr std::array<Int128, 2> advanced(const Taylor& taylor) {
  Int128 value = 0;
  Int128 derivative = 0;
  for (std::size_t n = kDegree; n > 0; --n) {
    value = (taylor[n] + value) / 16;
    derivative = derivative / 16 + static_cast<int>(n) * taylor[n];
  }
  return {taylor[0] + value, derivative};
}

constexpr std::array<Taylor, kCenters> taylor_table() {
  std::array<Taylor, kCenters> out{};
  Int128 value = 0;
  auto derivative = static_cast<Int128>(kTwoBySqrtPi >> (127 - kUnit));
  for (std::size_t i = 0; i < kCenters; ++i) {
    out[i] = coefficients(i, value, derivative);
    const auto next = advanced(out[i]);
    value = next[0];
    derivative = next[1];
  }
  return out;
}

/// In units of 2^-kUnit. Each step from center to center loses less than 2^6 units, and the equation damps what was lost before: less than 2^12
/// units in all. The first term left out is below 2^-119 (|g[n]| <= 1.23 * 2^(n/2) / sqrt(n!), Cramer's bound for Hermite functions).
constexpr std::array<Taylor, kCenters> kTaylor = taylor_table();

/// a * h / 2^128 for signed a.
Int128 multiply_high(Int128 a, Uint128 h) {
  const Uint128 product = fixed::multiply_high(static_cast<Uint128>(a), h);
  return static_cast<Int128>(a < 0 ? product - h : product);
}

/// erf x for x * 2^48 in [2^-12, 4).
Value by_taylor(std::int64_t x_48, bool negative) {
  constexpr int kRestBits = 48 - kCenterBits;
  const Taylor& taylor = kTaylor[static_cast<std::size_t>(x_48 >> kRestBits)];
  const Uint128 rest = static_cast<Uint128>(x_48 & ((std::int64_t{1} << kRestBits) - 1)) << 80;
  const std::size_t degree = fault::planted(fault::Fault::erf_series_too_short) ? 4 : kDegree;
  Int128 sum = taylor[degree];
  for (std::size_t n = degree; n > 0; --n) sum = taylor[n - 1] + multiply_high(sum, rest);
  return fixed::just_above(static_cast<Uint128>(sum), -kUnit, negative);
}

/// erf x = x * 2 / sqrt(pi) * (1 - x^2 / 3 + x^4 / 10 - x^6 / 42 + ...) for |x| < 2^-12, x != 0.
Value by_series(const Value& x) {
  const int shift = 128 + 2 * x.exponent;
  const Uint128 square = Uint128{x.significand} * x.significand;
  const Uint128 y = shift >= 0 ? square << shift : shift > -128 ? square >> -shift : 0;
  constexpr Uint128 kAll = ~Uint128{0};
  const Uint128 inner = kAll / 10 - fixed::multiply_high(y, kAll / 42);
  const Uint128 missing = fixed::multiply_high(y, kAll / 3 - fixed::multiply_high(y, inner));
  const Uint128 factor = kTwoBySqrtPi - fixed::multiply_high(kTwoBySqrtPi, missing);
  // 24 bits of significand by 128 of the factor, cut off below 2^-127 * 2^24.
  return fixed::just_above(fixed::multiply_high(Uint128{x.significand} << 104, factor), x.exponent - 127 + 24, x.negative);
}

}  // namespace

std::uint32_t erf(std::uint32_t x) {
  constexpr std::uint32_t kSmall = 0x39800000U;  // 2^-12
  constexpr std::uint32_t kLarge = 0x40800000U;  // 4: erf x is above 1 - 2^-25 from 3.84 on
  if (is_nan(x)) return kNan;
  const std::uint32_t magnitude = x & ~kSign;
  if (magnitude == 0) return x;
  if (magnitude >= kLarge) return kOne | (x & kSign);
  if (magnitude < kSmall) return to_f32(by_series(decode(kF32, x)));
  return to_f32(by_taylor(fixed::fixed_48(magnitude), (x & kSign) != 0));
}

}  // namespace mx::f32
