// fp32 arithmetic on bits: MPFR for the values, the rules of NaN, zero and order by example.

#include "tests/catch.hpp"

#include <random>

#include "model/numerics/f32.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/oracle.hpp"

using namespace mx;
using namespace mx::test;

TEST_CASE("the operations are rounded once, subnormals included") {
  std::mt19937 random(3);
  Comparison comparison;
  MpfrNumber a(24);
  MpfrNumber b(24);
  MpfrNumber exact(2000);
  const auto check = [&](const char* name, std::uint32_t x, std::uint32_t y, std::uint32_t got) {
    const std::uint32_t expected = rounded_bits(exact.get(), kF32Range);
    comparison.expect(got == expected, [&] { return name + (" " + hex(x)) + " " + hex(y) + ": " + hex(got) + ", MPFR " + hex(expected); });
  };
  for (int round = 0; round < 50000; ++round) {
    // Half of the operands are near the smallest numbers, where flushing would show.
    const std::uint32_t mask = round % 2 == 0 ? 0x80FFFFFFU : 0xBFFFFFFFU;
    const auto x = static_cast<std::uint32_t>(random()) & mask;
    const auto y = static_cast<std::uint32_t>(random()) & mask;
    if ((x & 0x7FFFFFFFU) == 0 || (y & 0x7FFFFFFFU) == 0) continue;
    mpfr_set_d(a.get(), f32_value(x), MPFR_RNDN);
    mpfr_set_d(b.get(), f32_value(y), MPFR_RNDN);
    mpfr_add(exact.get(), a.get(), b.get(), MPFR_RNDN);
    check("add", x, y, f32::add(x, y));
    mpfr_sub(exact.get(), a.get(), b.get(), MPFR_RNDN);
    check("sub", x, y, f32::sub(x, y));
    mpfr_mul(exact.get(), a.get(), b.get(), MPFR_RNDN);
    check("mul", x, y, f32::mul(x, y));
    mpfr_add_d(exact.get(), exact.get(), f32_value(x), MPFR_RNDN);
    check("fma", x, y, f32::fma(x, y, x));
    mpfr_div(exact.get(), a.get(), b.get(), MPFR_RNDN);
    check("div", x, y, f32::div(x, y));
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 200'000);
}

TEST_CASE("every NaN result is the canonical one") {
  for (std::uint32_t nan : {0x7F800001U, 0xFFC00000U, 0x7FFFFFFFU}) {
    CHECK(f32::add(nan, f32::kOne) == f32::kNan);
    CHECK(f32::fma(f32::kOne, f32::kOne, nan) == f32::kNan);
    CHECK(f32::min(nan, 0xFF800000U) == f32::kNan);
    CHECK(f32::max(0x7F800000U, nan) == f32::kNan);
    CHECK(f32::exp(nan) == f32::kNan);
    CHECK_FALSE(f32::less(nan, f32::kOne));
    CHECK_FALSE(f32::less(f32::kOne, nan));
  }
  CHECK(f32::sub(0x7F800000U, 0x7F800000U) == f32::kNan);
  CHECK(f32::div(0, 0) == f32::kNan);
  CHECK_FALSE(f32::is_nan(0xFF800000U));
}

TEST_CASE("order and extremes") {
  CHECK(f32::less(0xBF800000U, 0x80000001U));
  CHECK(f32::less(0x80000001U, 0x00000001U));
  CHECK_FALSE(f32::less(0x80000000U, 0x00000000U));
  CHECK_FALSE(f32::less(0x00000000U, 0x80000000U));
  CHECK(f32::less(0xFF800000U, 0x7F800000U));
  CHECK(f32::min(0x40E00000U, 0x41000000U) == 0x40E00000U);
  CHECK(f32::max(0xC0E00000U, 0xC1000000U) == 0xC0E00000U);
  // Of equal operands the first.
  CHECK(f32::min(0x80000000U, 0x00000000U) == 0x80000000U);
  CHECK(f32::max(0x80000000U, 0x00000000U) == 0x80000000U);
}
