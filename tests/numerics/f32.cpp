// fp32 arithmetic on bits: MPFR for the values, the rules of NaN, zero and order by example.

#include "model/numerics/f32.hpp"

#include <array>
#include <map>
#include <random>
#include <string>

#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

/// Where random operands lie: bits of the pattern that are free, and bits that are set.
struct Operands {
  const char* where;
  std::uint32_t free;
  std::uint32_t set;
};
constexpr std::array<Operands, 4> kOperands{{
    {"near the smallest numbers, where flushing would show", 0x80FFFFFFU, 0},
    {"below 2", 0xBFFFFFFFU, 0},
    {"anywhere", 0xFFFFFFFFU, 0},
    {"in the five upper binades, where sums overflow too", 0x83FFFFFFU, 0x7D000000U},
}};

bool is_finite(std::uint32_t bits) { return (bits & 0x7F800000U) != 0x7F800000U; }
bool is_zero(std::uint32_t bits) { return (bits & 0x7FFFFFFFU) == 0; }
bool is_infinite(std::uint32_t bits) { return (bits & 0x7FFFFFFFU) == 0x7F800000U; }

/// A finite number that is not zero.
std::uint32_t random_operand(std::mt19937& random, const Operands& row) {
  for (;;) {
    const std::uint32_t bits = (static_cast<std::uint32_t>(random()) & row.free) | row.set;
    if (is_finite(bits) && !is_zero(bits)) return bits;
  }
}

/// The five operations on three operands against MPFR; counts the infinite results.
class ArithmeticCheck {
 public:
  void check(std::uint32_t x, std::uint32_t y, std::uint32_t random_z, bool cancels) {
    mpfr_set_d(a_.get(), f32_value(x), MPFR_RNDN);
    mpfr_set_d(b_.get(), f32_value(y), MPFR_RNDN);
    mpfr_add(exact_.get(), a_.get(), b_.get(), MPFR_RNDN);
    expect("add", {x, y, 0}, f32::add(x, y));
    mpfr_sub(exact_.get(), a_.get(), b_.get(), MPFR_RNDN);
    expect("sub", {x, y, 0}, f32::sub(x, y));
    mpfr_div(exact_.get(), a_.get(), b_.get(), MPFR_RNDN);
    expect("div", {x, y, 0}, f32::div(x, y));
    mpfr_mul(exact_.get(), a_.get(), b_.get(), MPFR_RNDN);
    expect("mul", {x, y, 0}, f32::mul(x, y));
    // The product's own rounding, taken off again, leaves what only a single rounding keeps.
    const std::uint32_t opposite = rounded_bits(exact_.get(), kF32Range) ^ 0x80000000U;
    const std::uint32_t z = cancels && is_finite(opposite) && !is_zero(opposite) ? opposite : random_z;
    mpfr_add_d(exact_.get(), exact_.get(), f32_value(z), MPFR_RNDN);
    expect("fma", {x, y, z}, f32::fma(x, y, z));
  }

  const Comparison& comparison() const { return comparison_; }
  const std::map<std::string, std::uint64_t>& overflows() const { return overflows_; }

 private:
  void expect(const char* name, std::array<std::uint32_t, 3> operands, std::uint32_t got) {
    const std::uint32_t expected = rounded_bits(exact_.get(), kF32Range);
    if (is_infinite(expected)) ++overflows_[name];
    comparison_.expect(got == expected, [&] {
      return std::string(name) + " " + hex(operands[0]) + " " + hex(operands[1]) + " " + hex(operands[2]) + ": " + hex(got) + ", MPFR " +
             hex(expected);
    });
  }

  Comparison comparison_;
  std::map<std::string, std::uint64_t> overflows_;
  MpfrNumber a_{24};
  MpfrNumber b_{24};
  MpfrNumber exact_{2000};
};

}  // namespace

TEST_CASE("the operations are rounded once, from subnormals to overflow") {
  std::mt19937 random(3);
  ArithmeticCheck arithmetic;
  for (const Operands& row : kOperands) {
    for (int round = 0; round < 20000; ++round) {
      const std::uint32_t x = random_operand(random, row);
      const std::uint32_t y = random_operand(random, row);
      arithmetic.check(x, y, random_operand(random, row), round % 4 == 0);
    }
  }
  INFO(arithmetic.comparison().first);
  CHECK(arithmetic.comparison().failures == 0);
  CHECK(arithmetic.comparison().count == 400'000);
  for (const char* name : {"add", "sub", "mul", "fma", "div"}) {
    INFO(name);
    REQUIRE(arithmetic.overflows().contains(name));
    CHECK(arithmetic.overflows().at(name) > 1000);
  }
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
  for (const std::uint32_t nan : {0x7F800001U, 0xFFC00000U}) {
    CHECK(f32::min(0x3F800000U, nan) == f32::kNan);
    CHECK(f32::max(nan, 0x3F800000U) == f32::kNan);
    CHECK_FALSE(f32::less(nan, 0x3F800000U));
    CHECK_FALSE(f32::less(0x3F800000U, nan));
  }
}
