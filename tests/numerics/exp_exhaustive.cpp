// All 2^32 arguments of e^x. Hidden: it takes minutes. Run with: test_numerics '[.exhaustive]'

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/oracle.hpp"

using namespace mx;
using namespace mx::test;

namespace {

constexpr std::uint64_t kAll = std::uint64_t{1} << 32;

/// The C library's e^x in double, wrong by less than one unit, decides wherever it is not near a midpoint of fp32; MPFR decides the rest.
class Sweep {
 public:
  std::uint32_t expected(std::uint32_t x) {
    const double argument = f32_value(x);
    const double approximate = std::exp(argument);
    const auto low = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(approximate) & 0x1FFFFFFFU);
    constexpr std::int64_t kHalf = 1 << 28;
    const bool near_midpoint = std::llabs(low - kHalf) < 64;
    const bool subnormal = approximate < 0x1p-126;
    if (std::isnan(argument)) return f32::kNan;
    if (std::isinf(argument)) return argument > 0 ? 0x7F800000U : 0U;
    if (!near_midpoint && (!subnormal || approximate < 0x1p-151)) return std::bit_cast<std::uint32_t>(static_cast<float>(approximate));
    mpfr_set_d(argument_.get(), argument, MPFR_RNDN);
    mpfr_exp(result_.get(), argument_.get(), MPFR_RNDN);
    if (near_midpoint && !subnormal) measure(approximate, low - kHalf);
    return rounded_bits(result_.get(), kF32Range);
  }
  /// log2 of the smallest distance of e^x from a midpoint, relative to e^x.
  double nearest_log2 = 0;

 private:
  void measure(double approximate, std::int64_t beyond) {
    const double middle = std::bit_cast<double>(std::bit_cast<std::uint64_t>(approximate) - static_cast<std::uint64_t>(beyond));
    mpfr_sub_d(distance_.get(), result_.get(), middle, MPFR_RNDN);
    mpfr_div(distance_.get(), distance_.get(), result_.get(), MPFR_RNDN);
    nearest_log2 = std::min(nearest_log2, std::log2(std::fabs(mpfr_get_d(distance_.get(), MPFR_RNDN))));
  }

  MpfrNumber argument_{24};
  MpfrNumber result_{160};
  MpfrNumber distance_{160};
};

}  // namespace

TEST_CASE("e^x is correctly rounded for all 2^32 arguments", "[.exhaustive]") {
  std::uint64_t wrong = 0;
  std::uint64_t first_wrong = kAll;
  std::uint64_t count = 0;
  double nearest = 0;
#pragma omp parallel reduction(+ : wrong, count) reduction(min : first_wrong, nearest)
  {
    Sweep sweep;
#pragma omp for schedule(dynamic, 1 << 20)
    for (std::uint64_t i = 0; i < kAll; ++i) {
      const auto x = static_cast<std::uint32_t>(i);
      ++count;
      if (f32::exp(x) == sweep.expected(x)) continue;
      ++wrong;
      first_wrong = std::min(first_wrong, i);
    }
    nearest = std::min(nearest, sweep.nearest_log2);
    mpfr_free_cache();
  }
  std::printf("e^x: %llu arguments, %llu wrong, nearest midpoint at 2^%.1f of the result\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(wrong), nearest);
  INFO("first: " << hex(first_wrong));
  CHECK(wrong == 0);
  CHECK(count == kAll);
}
