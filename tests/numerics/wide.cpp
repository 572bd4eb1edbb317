// Wide arithmetic against MPFR at 64 bits: bit for bit where it is rounded once, within its bound where it is not.

#include "model/numerics/wide.hpp"

#include <mpfr.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <string>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

Value finite(std::uint64_t significand, std::int32_t exponent, bool negative = false) {
  return canonical({.significand = significand, .exponent = exponent, .cls = ValueClass::finite, .negative = negative});
}

const Value kNan{.significand = 0, .exponent = 0, .cls = ValueClass::nan, .negative = false};
const Value kZero{};
const Value kMinusZero{.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = true};
const Value kInfinity{.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = false};
const Value kMinusInfinity{.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = true};
const Value kOne = finite(1, 0);

void set(mpfr_ptr number, const Value& value) {
  mpfr_set_ui_2exp(number, value.significand, value.exponent, MPFR_RNDN);
  if (value.negative) mpfr_neg(number, number, MPFR_RNDN);
}

/// A finite MPFR number of at most 64 bits as a value.
Value value_of(mpfr_srcptr number) {
  if (mpfr_zero_p(number) != 0) return mpfr_signbit(number) != 0 ? kMinusZero : kZero;
  MpfrNumber scaled(64);
  const auto exponent = static_cast<std::int32_t>(mpfr_get_exp(number)) - 64;
  mpfr_mul_2si(scaled.get(), number, -exponent, MPFR_RNDN);
  mpfr_abs(scaled.get(), scaled.get(), MPFR_RNDN);
  return finite(mpfr_get_uj(scaled.get(), MPFR_RNDN), exponent, mpfr_signbit(number) != 0);
}

std::string text(const Value& value) { return (value.negative ? "-" : "") + hex(value.significand) + " * 2^" + std::to_string(value.exponent); }

/// Significands where carries, ties and cancellation happen: long runs of ones and zeros, few bits, any.
Value random_value(std::mt19937_64& random, int spread) {
  std::uint64_t significand = random();
  const auto bit = random() % 64;
  switch (random() % 4) {
    case 0: significand = (std::uint64_t{1} << bit) + random() % 3 - 1; break;
    case 1: significand = ~std::uint64_t{0} << bit; break;
    case 2: significand >>= bit; break;
    default: break;
  }
  if (significand == 0) significand = 1;
  return finite(significand, static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(2 * spread + 1)) - spread, (random() & 1U) != 0);
}

}  // namespace

TEST_CASE("wide sums, products, quotients and roots are MPFR's at 64 bits") {
  std::mt19937_64 random(11);
  MpfrNumber a(64);
  MpfrNumber b(64);
  MpfrNumber result(64);
  Comparison comparison;
  const auto expect = [&](const char* name, const Value& x, const Value& y, const Value& got) {
    const Value expected = value_of(result.get());
    comparison.expect(got == expected,
                      [&] { return std::string(name) + " " + text(x) + ", " + text(y) + ": " + text(got) + ", MPFR " + text(expected); });
  };
  for (int round = 0; round < 200000; ++round) {
    const int spread = round % 2 == 0 ? 70 : 3;
    const Value x = random_value(random, spread);
    const Value y = random_value(random, spread);
    set(a.get(), x);
    set(b.get(), y);
    mpfr_add(result.get(), a.get(), b.get(), MPFR_RNDN);
    expect("add", x, y, wide::add(x, y));
    mpfr_sub(result.get(), a.get(), b.get(), MPFR_RNDN);
    expect("sub", x, y, wide::sub(x, y));
    mpfr_mul(result.get(), a.get(), b.get(), MPFR_RNDN);
    expect("mul", x, y, wide::mul(x, y));
    mpfr_div(result.get(), a.get(), b.get(), MPFR_RNDN);
    expect("div", x, y, wide::div(x, y));
    const Value positive = x.negative ? wide::sub(kZero, x) : x;
    mpfr_abs(a.get(), a.get(), MPFR_RNDN);
    mpfr_sqrt(result.get(), a.get(), MPFR_RNDN);
    expect("sqrt", positive, positive, wide::sqrt(positive));
    comparison.expect(wide::less(x, y) == (mpfr_less_p((set(a.get(), x), a.get()), b.get()) != 0),
                      [&] { return "less " + text(x) + ", " + text(y); });
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count == 1'200'000);
}

TEST_CASE("wide exp and log1p are within 2^-60 of their value") {
  std::mt19937_64 random(13);
  MpfrNumber argument(64);
  MpfrNumber exact(160);
  MpfrNumber got(64);
  Comparison comparison;
  const auto check = [&](const char* name, const Value& x, const Value& result) {
    set(got.get(), result);
    mpfr_sub(got.get(), got.get(), exact.get(), MPFR_RNDN);
    mpfr_div(got.get(), got.get(), exact.get(), MPFR_RNDN);
    comparison.expect(mpfr_zero_p(got.get()) != 0 || mpfr_get_exp(got.get()) <= -60,
                      [&] { return std::string(name) + " " + text(x) + ": " + text(result); });
  };
  for (int round = 0; round < 200000; ++round) {
    // Magnitudes from 2^-130 to 2^30 for exp, to 2^330 for log1p.
    Value x = random_value(random, 0);
    x.exponent = static_cast<std::int32_t>(random() % 158U) - 130 - static_cast<std::int32_t>(std::bit_width(x.significand));
    set(argument.get(), x);
    mpfr_exp(exact.get(), argument.get(), MPFR_RNDN);
    check("exp", x, wide::exp(x));
    if (round % 2 == 0) x.exponent += static_cast<std::int32_t>(random() % 300U);
    if (!wide::less(finite(1, 0, true), x)) x.negative = false;
    set(argument.get(), x);
    mpfr_log1p(exact.get(), argument.get(), MPFR_RNDN);
    check("log1p", x, wide::log1p(x));
    // Just above -1, down to 2^-64 of it.
    const Value near = finite(~std::uint64_t{0} - (random() >> (random() % 64U)), -64, true);
    set(argument.get(), near);
    mpfr_log1p(exact.get(), argument.get(), MPFR_RNDN);
    check("log1p", near, wide::log1p(near));
    // Just off multiples of ln 2, where the power of two changes.
    const double multiple = std::log(2.0) * static_cast<double>(static_cast<std::int64_t>(random() % 4000U) - 2000);
    const Value edge = wide::from_f64(std::bit_cast<std::uint64_t>(multiple) + random() % 3U - 1U);
    if (edge.cls != ValueClass::finite) continue;
    set(argument.get(), edge);
    mpfr_exp(exact.get(), argument.get(), MPFR_RNDN);
    check("exp", edge, wide::exp(edge));
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count >= 700'000);
}

TEST_CASE("wide arithmetic of zeros, infinities and NaNs is IEEE 754's") {
  CHECK(wide::add(kMinusZero, kMinusZero) == kMinusZero);
  CHECK(wide::add(kMinusZero, kZero) == kZero);
  CHECK(wide::sub(kOne, kOne) == kZero);
  CHECK(wide::add(kInfinity, kMinusInfinity) == kNan);
  CHECK(wide::sub(kInfinity, kOne) == kInfinity);
  CHECK(wide::add(kMinusInfinity, kMinusInfinity) == kMinusInfinity);
  CHECK(wide::mul(kInfinity, kZero) == kNan);
  CHECK(wide::mul(kOne, kMinusInfinity) == kMinusInfinity);
  CHECK(wide::mul(kOne, kMinusZero) == kMinusZero);
  CHECK(wide::sub(kOne, kInfinity) == kMinusInfinity);
  CHECK(wide::mul(kMinusZero, kInfinity) == kNan);
  CHECK(wide::mul(kMinusInfinity, kMinusInfinity) == kInfinity);
  CHECK(wide::mul(kMinusZero, kOne) == kMinusZero);
  CHECK(wide::div(kZero, kMinusZero) == kNan);
  CHECK(wide::div(kInfinity, kInfinity) == kNan);
  CHECK(wide::div(kOne, kMinusZero) == kMinusInfinity);
  CHECK(wide::div(kOne, kMinusInfinity) == kMinusZero);
  CHECK(wide::div(kMinusInfinity, kOne) == kMinusInfinity);
  CHECK(wide::sqrt(kMinusZero) == kMinusZero);
  CHECK(wide::sqrt(kInfinity) == kInfinity);
  CHECK(wide::sqrt(finite(1, 0, true)) == kNan);
  CHECK(wide::exp(kMinusZero) == kOne);
  CHECK(wide::exp(kInfinity) == kInfinity);
  CHECK(wide::exp(kMinusInfinity) == kZero);
  CHECK(wide::exp(finite(1, 30)) == kInfinity);
  CHECK(wide::exp(finite(1, 30, true)) == kZero);
  CHECK(wide::log1p(kMinusZero) == kMinusZero);
  CHECK(wide::log1p(finite(1, 0, true)) == kMinusInfinity);
  CHECK(wide::log1p(finite(3, -1, true)) == kNan);
  CHECK(wide::log1p(kMinusInfinity) == kNan);
  CHECK(wide::log1p(kInfinity) == kInfinity);
  CHECK_FALSE(wide::less(kMinusZero, kZero));
  CHECK_FALSE(wide::less(kNan, kOne));
  CHECK_FALSE(wide::less(kOne, kNan));
  CHECK(wide::less(kMinusInfinity, finite(1, 1000, true)));
  CHECK(wide::less(finite(1, 1000), kInfinity));
  CHECK(wide::min(kNan, kOne) == kNan);
  CHECK(wide::max(kOne, kNan) == kNan);
  CHECK(wide::max(kMinusZero, kZero) == kMinusZero);
  CHECK(wide::min(kOne, kMinusInfinity) == kMinusInfinity);
  for (const Value& other : {kOne, kZero, kInfinity, kNan}) {
    CHECK(wide::add(kNan, other) == kNan);
    CHECK(wide::add(other, kNan) == kNan);
    CHECK(wide::mul(kNan, other) == kNan);
    CHECK(wide::div(kNan, other) == kNan);
    CHECK(wide::min(other, kNan) == kNan);
    CHECK(wide::max(kNan, other) == kNan);
    CHECK(wide::mul(other, kNan) == kNan);
    CHECK(wide::div(other, kNan) == kNan);
  }
  CHECK(wide::sqrt(kNan) == kNan);
  CHECK(wide::exp(kNan) == kNan);
  CHECK(wide::log1p(kNan) == kNan);
}

TEST_CASE("a wide result beyond the range is refused") {
  const Value huge = finite(1, 1 << 29);
  CHECK_NOTHROW(wide::mul(huge, huge));
  CHECK_THROWS_AS(wide::mul(wide::mul(huge, huge), huge), Error);
  CHECK_THROWS_AS(wide::div(kOne, wide::mul(finite(1, 1 << 30), finite(1, 1))), Error);
}

TEST_CASE("fp64 bits become values and back, other values round to the nearest") {
  std::mt19937_64 random(17);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random() >> (i % 5 == 0 ? random() % 64U : 0U);
    const auto number = std::bit_cast<double>(bits);
    if (std::isnan(number)) continue;
    INFO(hex(bits));
    REQUIRE(wide::to_f64(wide::from_f64(bits)) == bits);
  }
  CHECK(wide::to_f64(wide::from_f64(0x7FF0000000000001U)) == 0x7FF8000000000000U);
  CHECK(wide::to_f64(kMinusInfinity) == 0xFFF0000000000000U);
  CHECK(wide::from_f64(0x8000000000000000U) == kMinusZero);
  CHECK(wide::from_f64(0x3FF8000000000000U) == finite(3, -1));
  MpfrNumber number(64);
  Comparison comparison;
  for (int i = 0; i < 100000; ++i) {
    Value x = random_value(random, 0);
    // Around the subnormal numbers in one of three cases, around overflow in another.
    const std::int32_t base = i % 3 == 0 ? -1140 : i % 3 == 1 ? 950 : -64;
    x.exponent = base + static_cast<std::int32_t>(random() % 130U);
    set(number.get(), x);
    const auto expected = std::bit_cast<std::uint64_t>(mpfr_get_d(number.get(), MPFR_RNDN));
    comparison.expect(wide::to_f64(x) == expected, [&] { return text(x) + ": " + hex(wide::to_f64(x)) + ", MPFR " + hex(expected); });
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
}
