// Conversions and flags by IEEE 754's own words: each expected code is written out from the format's table.

#include "model/numerics/ieee_flags.hpp"

#include <tuple>

#include "model/error.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/wide_source.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;

Conversion directed(Rounding rounding) {
  Conversion made{rounding, Overflow::ieee, NanRule::fixed, 0x7F, 0xFF, 0, false};
  made.fine.tininess = Tininess::after;
  return made;
}

std::uint32_t of_f32(std::uint32_t bits, const Format& to, const Conversion& how, IeeeFlags& flags) {
  flags = {};
  return convert_ieee(bits, kF32, to, how, flags);
}

}  // namespace

// IEEE 754-2019 section 7.4: toward zero gives the largest number, away from zero Inf, or NaN where there is no Inf.
TEST_CASE("overflow follows the direction in every format") {
  constexpr std::uint32_t k1000 = 0x447A0000, kMinus1000 = 0xC47A0000;
  IeeeFlags flags;
  struct Row {
    const Format* to;
    std::uint32_t largest;
    std::uint32_t out;  // of a positive number
    std::uint32_t sign;
  };
  for (const Row& row : {Row{&kE4m3fn, 0x7E, 0x7F, 0x80}, Row{&kE4m3Ieee, 0x77, 0x78, 0x80}, Row{&kE3m4, 0x6F, 0x70, 0x80}, Row{&kE2m1, 7, 7, 8}}) {
    INFO(row.to->name);
    CHECK(of_f32(k1000, *row.to, directed(Rounding::toward_zero), flags) == row.largest);
    CHECK(flags.overflow);
    CHECK(flags.inexact);
    CHECK(of_f32(k1000, *row.to, directed(Rounding::toward_negative), flags) == row.largest);
    CHECK(of_f32(k1000, *row.to, directed(Rounding::toward_positive), flags) == row.out);
    CHECK(of_f32(kMinus1000, *row.to, directed(Rounding::toward_positive), flags) == (row.largest | row.sign));
    CHECK(of_f32(kMinus1000, *row.to, directed(Rounding::toward_negative), flags) == (row.out | row.sign));
    CHECK(of_f32(k1000, *row.to, directed(Rounding::nearest_even), flags) == row.out);
  }
  // One zero, one NaN: 0x80 whatever the sign. The largest number is 30.
  CHECK(of_f32(k1000, kE4m3b11fnuz, directed(Rounding::nearest_even), flags) == 0x80);
  CHECK(of_f32(0x41F00000, kE4m3b11fnuz, directed(Rounding::nearest_even), flags) == 0x7F);
  CHECK_FALSE(flags.inexact);
}

// The least normal number of e4m3fn is 2^-6, the unit below it 2^-9: the three definitions part between 2^-6 - 2^-10 and 2^-6.
TEST_CASE("a result is tiny before rounding, after it, or as it is delivered") {
  Conversion how = directed(Rounding::nearest_even);
  IeeeFlags flags;
  struct Row {
    std::uint32_t x;
    bool before, after, result;
  };
  // 2^-6 - 2^-9 * 3 / 8 rounds to 2^-6 - 2^-10 with four bits; 2^-6 - 2^-14 to 2^-6; 2^-6 - 2^-9 * 5 / 8 to the subnormal below.
  for (const Row& row : {Row{0x3C740000, true, true, false}, Row{0x3C7F0000, true, false, false}, Row{0x3C6C0000, true, true, true}}) {
    INFO(std::hex << row.x);
    for (const auto& [rule, tiny] : {std::pair{Tininess::before, row.before}, {Tininess::after, row.after}, {Tininess::result, row.result}}) {
      how.fine.tininess = rule;
      of_f32(row.x, kE4m3fn, how, flags);
      CHECK(flags.inexact);
      CHECK(flags.underflow == tiny);
    }
  }
  // Exact: no underflow, however tiny.
  of_f32(0x3B000000, kE4m3fn, how, flags);
  CHECK(flags == IeeeFlags{});
}

TEST_CASE("a signalling NaN is invalid, a quiet one is not") {
  IeeeFlags flags;
  CHECK(of_f32(0x7F800001, kE4m3fn, directed(Rounding::nearest_even), flags) == 0x7F);
  CHECK(flags.invalid);
  CHECK(of_f32(0xFFC00000, kE4m3fn, directed(Rounding::nearest_even), flags) == 0xFF);
  CHECK_FALSE(flags.invalid);
  flags = {};
  convert_ieee(0x7FF0000000000001, kF64, kE4m3fn, directed(Rounding::nearest_even), flags);
  CHECK(flags.invalid);
}

// 1 + 2^-4 + 2^-40 lies above the midpoint of 1 and 1.125; fp32 drops the last bit.
TEST_CASE("fp64 is rounded once") {
  IeeeFlags flags;
  CHECK(convert_ieee(0x3FF1000000001000, kF64, kE4m3fn, directed(Rounding::nearest_even), flags) == 0x39);
  CHECK(of_f32(0x3F880000, kE4m3fn, directed(Rounding::nearest_even), flags) == 0x38);
}

TEST_CASE("E8M0 by the logarithm: halves go away from zero, a negative number is zero where the rule says so") {
  Conversion how{Rounding::nearest_log2_away, Overflow::saturate, NanRule::fixed, 0xFF, 0xFF, 0, false};
  how.fine.negative = NegativeRule::zero;
  how.fine.infinity = InfinityRule::largest;
  IeeeFlags flags;
  CHECK(of_f32(0x3FB504F4, kE8m0, how, flags) == 128);  // 1.41421366, just above the square root of 2
  CHECK(of_f32(0x3FB40000, kE8m0, how, flags) == 127);  // 1.40625
  CHECK(of_f32(0xBF800000, kE8m0, how, flags) == 0);
  CHECK(of_f32(0xFF800000, kE8m0, how, flags) == 0xFE);
  CHECK(of_f32(0x7F7FFFFF, kE8m0, how, flags) == 0xFE);
  CHECK_THROWS_AS(of_f32(0x3F800000, kE4m3fn, how, flags), mx::Error);
}

// Arm ARM A1.5.5: FPMR.NSCALE multiplies first, overflow and infinite inputs raise Overflow and Inexact, whatever FPMR.OSC makes of them.
TEST_CASE("Arm's FP8: scaled by NSCALE inside the one rounding, an Inf overflows") {
  IeeeFlags flags;
  for (const auto& [profile, e4m3, e5m2] : {std::tuple{"arm", 0x7FU, 0x7CU}, std::tuple{"arm-sat", 0x7EU, 0x7BU}}) {
    for (const std::uint32_t x : {0x7F800000U, 0x7F000000U}) {
      CHECK(of_f32(x, kE4m3fn, conversion(profile_named(profile), kF32, kE4m3fn), flags) == e4m3);
      CHECK(flag_bits(flags) == 5);
      CHECK(of_f32(x, kE5m2, conversion(profile_named(profile), kF32, kE5m2), flags) == e5m2);
      CHECK(flag_bits(flags) == 5);
    }
    CHECK(of_f32(0x7FC00000, kE5m2, conversion(profile_named(profile), kF32, kE5m2), flags) == 0x7E);
  }
  // NSCALE = -3: 1 becomes 2^-3, 448 * 2^3 is the largest number, twice that too much; 2^-6 * (1 - 2^-5) rounds up to the least normal one.
  const Conversion& down = conversion(profile_named("e4m3fn,round=rne,overflow=nan,nan=7f,power=-3,overflow-flag=infinite-too"), kF32, kE4m3fn);
  CHECK(of_f32(0x3F800000, kE4m3fn, down, flags) == 0x20);
  CHECK(flag_bits(flags) == 0);
  CHECK(of_f32(0x45600000, kE4m3fn, down, flags) == 0x7E);
  CHECK(flag_bits(flags) == 0);
  CHECK(of_f32(0x45E00000, kE4m3fn, down, flags) == 0x7F);
  CHECK(flag_bits(flags) == 5);
  CHECK(of_f32(0x3DF80000, kE4m3fn, down, flags) == 0x08);
  CHECK(flag_bits(flags) == 3);  // tiny before rounding, as Arm has it
}
