// e^x against MPFR where rounding is hard: preimages of midpoints, the ends of the range, tiny arguments.

#include <cmath>
#include <random>

#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/oracle.hpp"

using namespace mx;
using namespace mx::test;

namespace {

class ExpOracle {
 public:
  std::uint32_t operator()(std::uint32_t x) {
    mpfr_set_d(argument_.get(), f32_value(x), MPFR_RNDN);
    // 120 bits are far more than any midpoint needs, and fewer than a wrong model could hide in.
    mpfr_exp(result_.get(), argument_.get(), MPFR_RNDN);
    return rounded_bits(result_.get(), kF32Range);
  }

 private:
  MpfrNumber argument_{24};
  MpfrNumber result_{120};
};

}  // namespace

TEST_CASE("e^x is correctly rounded on a million boundary-biased inputs") {
  std::mt19937 random(5);
  ExpOracle oracle;
  Comparison comparison;
  const auto check = [&](std::uint32_t x) {
    const std::uint32_t got = f32::exp(x);
    const std::uint32_t expected = oracle(x);
    comparison.expect(got == expected, [&] { return hex(x) + ": " + hex(got) + ", MPFR " + hex(expected); });
  };
  for (int i = 0; i < 200000; ++i) {
    // The argument whose exponential is nearest to a midpoint of two fp32 numbers, and its neighbours.
    const std::uint32_t y = static_cast<std::uint32_t>(random()) % 0x7F7FFFFFU;
    const double middle = (f32_value(y) + f32_value(y + 1)) / 2;
    const std::uint32_t x = std::bit_cast<std::uint32_t>(static_cast<float>(std::log(middle)));
    for (std::uint32_t neighbour : {x - 1U, x, x + 1U}) check(neighbour);
  }
  for (int i = 0; i < 400000; ++i) {
    // Log-uniform arguments of both signs from 2^-40 to 2^8.
    const std::uint32_t exponent = 87U + static_cast<std::uint32_t>(random()) % 48U;
    check((static_cast<std::uint32_t>(random()) & 0x807FFFFFU) | (exponent << 23));
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count >= 1'000'000);
}

TEST_CASE("e^x at the ends") {
  CHECK(f32::exp(0x00000000U) == f32::kOne);
  CHECK(f32::exp(0x80000000U) == f32::kOne);
  CHECK(f32::exp(0x7F800000U) == 0x7F800000U);
  CHECK(f32::exp(0xFF800000U) == 0x00000000U);
  ExpOracle oracle;
  // Around overflow (88.72), the smallest normal (-87.34) and the smallest result (-103.97), and the limits between the model's cases.
  for (std::uint32_t center : {0x42B17218U, 0xC2AEAC50U, 0xC2CFF1B5U, 0x33000000U, 0xB3000000U, 0xB3800000U, 0x42D00000U, 0xC2D00000U}) {
    for (std::uint32_t x = center - 300U; x <= center + 300U; ++x) {
      INFO(hex(x));
      REQUIRE(f32::exp(x) == oracle(x));
    }
  }
}
