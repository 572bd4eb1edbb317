// The elementary functions against MPFR where rounding is hard: preimages of midpoints, the ends of the ranges, tiny arguments. All 2^32 arguments:
// tests/proof/functions.cpp.

#include <mpfr.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kMinusInfinity = 0xFF800000U;

/// A function with an inverse (in double, near enough to aim at midpoints; none where the C library has none) and the limits between the model's
/// cases and between kinds of results.
struct Function {
  const char* name;
  std::uint32_t (*model)(std::uint32_t);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  double (*inverse)(double);
  std::vector<std::uint32_t> limits;
};

const std::vector<Function>& functions() {
  static const std::vector<Function> kFunctions{
      // Overflow (88.72), the smallest normal (-87.34) and the smallest result (-103.97); 2^-25 and 104.
      {"exp",
       f32::exp,
       mpfr_exp,
       [](double y) { return std::log(y); },
       {0x42B17218U, 0xC2AEAC50U, 0xC2CFF1B5U, 0x33000000U, 0xB3000000U, 0x42D00000U, 0xC2D00000U}},
      // 128, -126, -149, -150; 2^-25.
      {"exp2",
       f32::exp2,
       mpfr_exp2,
       [](double y) { return std::log2(y); },
       {0x43000000U, 0xC2FC0000U, 0xC3150000U, 0xC3160000U, 0x43160000U, 0x33000000U, 0xB3000000U}},
      // 1 from both sides, powers of two, the smallest normal number, the first subnormal ones.
      {"log2",
       f32::log2,
       mpfr_log2,
       [](double y) { return std::exp2(y); },
       {0x3F800000U, 0x40000000U, 0x3F000000U, 0x00800000U, 0x0000012CU, 0x7F7FFED3U}},
      // 2^-25; -1 from above, -1/2, 2^27, where the 1 begins to drop out, and 2^128.
      {"log1p",
       f32::log1p,
       mpfr_log1p,
       [](double y) { return std::expm1(y); },
       {0x33000000U, 0xB3000000U, 0xBF7FFED3U, 0xBF000000U, 0x4D000000U, 0x7F7FFED3U, 0x0000012CU}},
      // 2^-12, 9.01 where the result becomes 1, 10.
      {"tanh",
       f32::tanh,
       mpfr_tanh,
       [](double y) { return std::atanh(y); },
       {0x39800000U, 0xB9800000U, 0x41102CB4U, 0x41200000U, 0xC1200000U, 0x0000012CU}},
      // 2^-12, centers of the Taylor series, 3.83 where the result becomes 1, 4; where subnormal arguments give normal results.
      {"erf",
       f32::erf,
       mpfr_erf,
       nullptr,
       {0x39800000U, 0xB9800000U, 0x3D800000U, 0x3F800000U, 0x407A0000U, 0x40753C32U, 0x40800000U, 0x0000012CU, 0x00716F00U, 0x00800000U}},
  };
  return kFunctions;
}

class Check {
 public:
  explicit Check(const Function& function) : function_(function) {}

  void operator()(std::uint32_t x) {
    mpfr_set_d(argument_.get(), f32_value(x), MPFR_RNDN);
    // 160 bits are far more than any midpoint needs, and fewer than a wrong model could hide in.
    function_.exact(result_.get(), argument_.get(), MPFR_RNDN);
    const std::uint32_t expected = mpfr_nan_p(result_.get()) != 0 ? f32::kNan : rounded_bits(result_.get(), kF32Range);
    const std::uint32_t got = function_.model(x);
    comparison.expect(got == expected, [&] { return std::string(function_.name) + " " + hex(x) + ": " + hex(got) + ", MPFR " + hex(expected); });
  }

  Comparison comparison;

 private:
  const Function& function_;
  MpfrNumber argument_{24};
  MpfrNumber result_{160};
};

/// Positive fp32 patterns below infinity.
std::uint32_t random_finite(std::mt19937& random) { return static_cast<std::uint32_t>(random()) % kInfinity; }

}  // namespace

TEST_CASE("elementary functions are correctly rounded at and around midpoints, at random and at their limits") {
  for (const Function& function : functions()) {
    std::mt19937 random(5);
    Check check(function);
    for (int i = 0; i < 40000 && function.inverse != nullptr; ++i) {
      // The argument whose result is nearest to a midpoint of two fp32 numbers, and its neighbours.
      const std::uint32_t y = random_finite(random) >> (i % 2);
      const double middle = (f32_value(y) + f32_value(y + 1)) / 2;
      const auto x = std::bit_cast<std::uint32_t>(static_cast<float>(function.inverse(middle)));
      for (std::uint32_t neighbour : {x - 1U, x, x + 1U}) check(neighbour);
    }
    for (int i = 0; i < 100000; ++i) {
      // Magnitudes from 2^-40 to 2^8 in three of four cases, any pattern in the others.
      const auto bits = static_cast<std::uint32_t>(random());
      const std::uint32_t exponent = 87U + static_cast<std::uint32_t>(random()) % 48U;
      check(i % 4 == 0 ? bits : (bits & 0x807FFFFFU) | (exponent << 23));
    }
    for (std::uint32_t limit : function.limits) {
      for (std::uint32_t x = limit - 300U; x <= limit + 300U; ++x) check(x);
    }
    INFO(check.comparison.first);
    CHECK(check.comparison.failures == 0);
    CHECK(check.comparison.count >= 100'000);
  }
}

TEST_CASE("elementary functions of zeros, infinities, NaNs and exact cases") {
  struct Case {
    std::uint32_t (*function)(std::uint32_t);
    std::uint32_t x;
    std::uint32_t expected;
  };
  constexpr std::uint32_t kMinusZero = 0x80000000U;
  constexpr std::uint32_t kMinusOne = 0xBF800000U;
  const std::array cases{
      Case{f32::exp, 0, f32::kOne}, Case{f32::exp, kMinusZero, f32::kOne}, Case{f32::exp, kInfinity, kInfinity}, Case{f32::exp, kMinusInfinity, 0},
      Case{f32::exp2, 0, f32::kOne}, Case{f32::exp2, kMinusZero, f32::kOne}, Case{f32::exp2, kInfinity, kInfinity},
      Case{f32::exp2, kMinusInfinity, 0},
      // 2^3, 2^-126, 2^-149 and the tie 2^-150.
      Case{f32::exp2, 0x40400000U, 0x41000000U}, Case{f32::exp2, 0xC2FC0000U, 0x00800000U}, Case{f32::exp2, 0xC3150000U, 1},
      Case{f32::exp2, 0xC3160000U, 0}, Case{f32::log2, 0, kMinusInfinity}, Case{f32::log2, kMinusZero, kMinusInfinity},
      Case{f32::log2, kMinusOne, f32::kNan}, Case{f32::log2, kMinusInfinity, f32::kNan}, Case{f32::log2, 0x80000001U, f32::kNan},
      Case{f32::log2, kInfinity, kInfinity},
      // log2 of 1, 8 and 2^-149.
      Case{f32::log2, f32::kOne, 0}, Case{f32::log2, 0x41000000U, 0x40400000U}, Case{f32::log2, 1, 0xC3150000U}, Case{f32::log1p, 0, 0},
      Case{f32::log1p, kMinusZero, kMinusZero}, Case{f32::log1p, kMinusOne, kMinusInfinity}, Case{f32::log1p, 0xBF800001U, f32::kNan},
      Case{f32::log1p, kMinusInfinity, f32::kNan}, Case{f32::log1p, kInfinity, kInfinity}, Case{f32::tanh, 0, 0},
      Case{f32::tanh, kMinusZero, kMinusZero}, Case{f32::tanh, kInfinity, f32::kOne}, Case{f32::tanh, kMinusInfinity, kMinusOne},
      Case{f32::erf, 0, 0}, Case{f32::erf, kMinusZero, kMinusZero}, Case{f32::erf, kInfinity, f32::kOne}, Case{f32::erf, kMinusInfinity, kMinusOne},
      Case{f32::sqrt, 0, 0}, Case{f32::sqrt, kMinusZero, kMinusZero}, Case{f32::sqrt, kInfinity, kInfinity},
      Case{f32::sqrt, kMinusInfinity, f32::kNan}, Case{f32::sqrt, kMinusOne, f32::kNan}, Case{f32::sqrt, 0x41100000U, 0x40400000U}};
  for (const Case& row : cases) {
    INFO(hex(row.x));
    CHECK(row.function(row.x) == row.expected);
  }
  for (const Function& function : functions()) {
    for (std::uint32_t nan : {0x7F800001U, 0xFFC00000U, 0x7FFFFFFFU}) {
      INFO(function.name << " " << hex(nan));
      CHECK(function.model(nan) == f32::kNan);
    }
  }
}

TEST_CASE("the square root is correctly rounded") {
  const Function root{"sqrt", f32::sqrt, mpfr_sqrt, nullptr, {}};
  Check check(root);
  std::mt19937 random(7);
  for (int i = 0; i < 100000; ++i) {
    // Every third argument is the square of a number of 24 bits and a half, cut to 24: next to a tie.
    const std::uint32_t x = random_finite(random);
    const double half = f32_value(x | 1U) * (1 + 0x1p-25);
    check(i % 3 == 0 ? std::bit_cast<std::uint32_t>(static_cast<float>(half * half)) : x);
    if (i % 100 == 0) check(x % 0x800000U);
  }
  INFO(check.comparison.first);
  CHECK(check.comparison.failures == 0);
  CHECK(check.comparison.count >= 100'000);
}
