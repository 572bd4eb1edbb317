// An NVIDIA device's elementary functions, against what an H100 gave for every significand: digests of the recorded results (CUDA 13.0.88), worked
// out apart from the model, and single ones, among them the farthest from the rounded value.

#include "model/numerics/device.hpp"

#include <mpfr.h>

#include <array>
#include <bit>
#include <cmath>

#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"

using namespace mx;

namespace {

constexpr std::uint32_t kCount = 1U << 23;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kNan = 0x7FC00000U;

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

/// fp32 bits of i * 2^-23.
std::uint32_t fraction(std::uint32_t i) { return bits(std::ldexp(static_cast<float>(i), -23)); }

template <typename Function>
std::uint64_t digest(Function function) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    std::uint64_t term = function(i) * 0x9E3779B97F4A7C15ULL;
    term ^= (std::uint64_t{i} + 1) * 0xC2B2AE3D27D4EB4FULL;
    term ^= term >> 29U;
    sum += term * term;
  }
  return sum;
}

/// How far fp32 bits are from a function's exact value, in units of the last place.
double distance(std::uint32_t result, float x, int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)) {
  tests::MpfrNumber argument(24), value(200);
  mpfr_set_flt(argument.get(), x, MPFR_RNDN);
  exact(value.get(), argument.get(), MPFR_RNDN);
  const long unit = mpfr_get_exp(value.get()) - 24;
  mpfr_sub_d(value.get(), value.get(), std::bit_cast<float>(result), MPFR_RNDN);
  return std::fabs(std::ldexp(mpfr_get_d(value.get(), MPFR_RNDN), static_cast<int>(-unit)));
}

}  // namespace

TEST_CASE("ex2.approx and rcp.approx are an H100's for every significand", "[numerics][device]") {
  CHECK(digest([](std::uint32_t i) { return device::ex2_approx(fraction(i)); }) == 0x85A68E712BB7572BULL);
  CHECK(digest([](std::uint32_t i) { return device::ex2_approx(fraction(i) | f32::kSign); }) == 0x17403A8274C25859ULL);
  CHECK(digest([](std::uint32_t i) { return device::rcp_approx(0x3F800000U | i); }) == 0x07D99660467A2A7DULL);
  CHECK(device::ex2_approx(fraction(5417821)) == 0x3FC846F8U);              // one unit below the rounded value
  CHECK(device::ex2_approx(fraction(4369045)) == 0x3FB7A6EAU);              // one above
  CHECK(device::ex2_approx(fraction(605189) | f32::kSign) == 0x3F73835CU);  // two below
  CHECK(device::rcp_approx(0x3F800000U | 2420309U) == 0x3F46AD52U);
}

TEST_CASE("a device's functions at the ends of fp32", "[numerics][device]") {
  CHECK(device::ex2_approx(0) == f32::kOne);
  CHECK(device::ex2_approx(f32::kSign) == f32::kOne);
  CHECK(device::ex2_approx(bits(-0x1p-24F)) == f32::kOne);  // cut to zero
  CHECK(device::ex2_approx(bits(-3.0F)) == bits(0.125F));
  CHECK(device::ex2_approx(bits(127.0F)) == bits(0x1p127F));
  CHECK(device::ex2_approx(bits(128.0F)) == kInfinity);
  CHECK(device::ex2_approx(bits(-149.0F)) == 1U);
  CHECK(device::ex2_approx(bits(-127.0F), true) == 0U);
  CHECK(device::ex2_approx(kInfinity) == kInfinity);
  CHECK(device::ex2_approx(kInfinity | f32::kSign) == 0U);
  CHECK(device::ex2_approx(kNan | f32::kSign) == kNan);
  CHECK(device::rcp_approx(bits(-4.0F)) == bits(-0.25F));
  CHECK(device::rcp_approx(f32::kSign) == (kInfinity | f32::kSign));
  CHECK(device::rcp_approx(kInfinity) == 0U);
  CHECK(device::rcp_approx(1U) == kInfinity);  // 2^149
  CHECK(device::div_full(bits(6.0F), bits(2.0F)) == bits(3.0F));
  CHECK(device::div_full(bits(0x1p127F), bits(0x1p127F)) == f32::kOne);
  CHECK(device::div_full(0, 0) == kNan);
  CHECK(device::expf(0) == f32::kOne);
  CHECK(device::expf(kInfinity) == kInfinity);
  CHECK(device::expf(kInfinity | f32::kSign) == 0U);
  CHECK(device::expf(kNan) == kNan);
  CHECK(device::expf(bits(89.0F)) == kInfinity);
  CHECK(device::expf(bits(-104.5F)) == 0U);
  CHECK(device::expf(bits(-100.0F)) != 0U);  // subnormal results stay
}

// Bounds from all fp32 arguments of an H100: expf within 1.931 units of the last place, 29 of 100 not correctly rounded.
TEST_CASE("expf of CUDA is as far from exp as on an H100", "[numerics][device]") {
  int wrong = 0;
  double worst = 0;
  constexpr int kArguments = 1 << 16;
  for (int i = 0; i < kArguments; ++i) {
    const float x = -20.0F + 40.0F * static_cast<float>(i) / kArguments;
    const std::uint32_t result = device::expf(bits(x));
    worst = std::max(worst, distance(result, x, mpfr_exp));
    wrong += result == f32::exp(bits(x)) ? 0 : 1;
  }
  CHECK(worst < 1.932);
  CHECK(worst > 1.0);
  CHECK(wrong > kArguments * 25 / 100);
  CHECK(wrong < kArguments * 33 / 100);
  CHECK(distance(device::triton_exp(bits(20.0F)), 20.0F, mpfr_exp) < 64);
}
