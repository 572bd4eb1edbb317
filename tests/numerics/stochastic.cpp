// Stochastic roundings: how many of the random numbers round up, by a formula of their own, and that these are the largest ones.

#include <cmath>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/shared_random.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

constexpr int kBits = 6;

Conversion stochastic(Rounding rounding, int bits) { return {rounding, Overflow::saturate, NanRule::fixed, 0, 0, 0, false, bits}; }

/// The neighbours of a magnitude in range, as codes, and where it lies between them.
struct Place {
  std::uint32_t down;
  double fraction;
};

Place place_of(const FormatFacts& facts, double magnitude) {
  std::uint32_t down = 0;
  while (down < facts.max_code && value_of(facts, down + 1) <= magnitude) ++down;
  if (down == facts.max_code) return {down, 0};
  const double low = value_of(facts, down);
  return {down, (magnitude - low) / (value_of(facts, down + 1) - low)};
}

/// How many of the 2^bits random numbers round up. stochastic_odd: floor(F) + 2r + 1 >= 2^(n+1) for ceil(floor(F) / 2) of the r.
double ups(Rounding rounding, double fraction, int bits, int mantissa_bits) {
  switch (rounding) {
    case Rounding::stochastic_odd: return std::floor((std::floor(std::ldexp(fraction, bits + 1)) + 1) / 2);
    case Rounding::stochastic_nearest: return std::nearbyint(std::ldexp(fraction, bits));
    // The random number is added at the last of the 23 - m places; a small one reaches the top only from close by.
    case Rounding::stochastic_add: {
      const double places = std::ldexp(1.0, 23 - mantissa_bits);
      const double missing = places - std::floor(fraction * places);
      return std::fmax(0, std::ldexp(1.0, bits) - missing);
    }
    default: return std::floor(std::ldexp(fraction, bits));
  }
}

std::uint32_t drawn(std::uint32_t f32, const Format& to, const Conversion& how, std::uint32_t random) {
  Flags flags;
  return convert(f32, kF32, to, how, flags, random);
}

}  // namespace

TEST_CASE("the share of random numbers that round up is the fraction, as each definition rounds it") {
  Comparison comparison;
  for (const FormatFacts& facts : all_facts()) {
    if (facts.width > 8 || facts.name == "e8m0") continue;
    const Format& to = format_named(facts.name);
    for (Rounding rounding : {Rounding::stochastic_floor, Rounding::stochastic_odd, Rounding::stochastic_nearest, Rounding::stochastic_add}) {
      for (std::uint32_t f32 : boundary_patterns(facts)) {
        const double value = f32_value(f32);
        if (!(std::fabs(value) < facts.max_value)) continue;
        const Place place = place_of(facts, std::fabs(value));
        const double up_from = std::ldexp(1.0, kBits) - ups(rounding, place.fraction, kBits, facts.mantissa_bits);
        for (std::uint32_t random = 0; random < 1U << kBits; ++random) {
          const std::uint32_t magnitude = place.down + (random >= up_from ? 1U : 0U);
          const std::uint32_t code = drawn(f32, to, stochastic(rounding, kBits), random);
          const std::uint32_t positive = drawn(f32 & 0x7FFFFFFFU, to, stochastic(rounding, kBits), random);
          comparison.expect(positive == magnitude && std::fabs(value_of(facts, code)) == value_of(facts, magnitude), [&] {
            return std::string(to.name) + " " + text_of(stochastic(rounding, kBits)) + " " + hex(f32) + " random " + hex(random) + ": " + hex(code) +
                   ", expected magnitude " + hex(magnitude);
          });
        }
      }
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 500'000);
}

TEST_CASE("stochastic rounding by hand") {
  // 1.28125 lies 1/4 of the way from 1.25 to 1.375 in e4m3fn: 0x3A goes to 0x3B for the upper quarter of the random numbers.
  const std::uint32_t quarter = 0x3FA40000;
  CHECK(drawn(quarter, kE4m3fn, stochastic(Rounding::stochastic_floor, 8), 0xBF) == 0x3A);
  CHECK(drawn(quarter, kE4m3fn, stochastic(Rounding::stochastic_floor, 8), 0xC0) == 0x3B);
  CHECK(drawn(quarter, kE4m3fn, stochastic(Rounding::stochastic_floor, 32), 0xBFFFFFFF) == 0x3A);
  CHECK(drawn(quarter, kE4m3fn, stochastic(Rounding::stochastic_floor, 32), 0xC0000000) == 0x3B);
  CHECK(drawn(quarter, kE4m3fn, stochastic(Rounding::stochastic_add, 20), 0xBFFFF) == 0x3A);
  CHECK(drawn(quarter, kE4m3fn, stochastic(Rounding::stochastic_add, 20), 0xC0000) == 0x3B);
  // 1/8 of a unit and one random bit: floor loses it, nearest even too (it is 1/4 of that bit), and so does 2r + 1 of 4 with floor 0.
  const std::uint32_t eighth = 0x3FA20000;
  for (Rounding rounding : {Rounding::stochastic_floor, Rounding::stochastic_odd, Rounding::stochastic_nearest}) {
    CHECK(drawn(eighth, kE4m3fn, stochastic(rounding, 1), 1) == 0x3A);
  }
  // A quarter of a unit and one random bit: half of that bit. Only 2r + 1 reaches the top.
  CHECK(drawn(quarter, kE4m3fn, stochastic(Rounding::stochastic_floor, 1), 1) == 0x3A);
  CHECK(drawn(quarter, kE4m3fn, stochastic(Rounding::stochastic_odd, 1), 1) == 0x3B);
  CHECK(drawn(quarter, kE4m3fn, stochastic(Rounding::stochastic_nearest, 1), 1) == 0x3A);
  // 3/4 and one bit: 1.5 of that bit ties to 2, so that every random number rounds up.
  const std::uint32_t three_quarters = 0x3FAC0000;
  CHECK(drawn(three_quarters, kE4m3fn, stochastic(Rounding::stochastic_nearest, 1), 0) == 0x3B);
  CHECK(drawn(three_quarters, kE4m3fn, stochastic(Rounding::stochastic_floor, 1), 0) == 0x3A);
  // Far below the smallest subnormal nothing is left of the fraction.
  CHECK(drawn(0x00000001, kE4m3fn, stochastic(Rounding::stochastic_floor, 32), 0xFFFFFFFF) == 0x00);
  // 470 saturates when it is rounded up and stays 448 otherwise: the same code.
  CHECK(drawn(0x43EB0000, kE4m3fn, stochastic(Rounding::stochastic_floor, 8), 0xFF) == 0x7E);
  Conversion to_nan = stochastic(Rounding::stochastic_floor, 8);
  to_nan.overflow = Overflow::nan;
  CHECK(drawn(0x43EB0000, kE4m3fn, to_nan, 0xFF) == 0x7F);
  CHECK(drawn(0x43EB0000, kE4m3fn, to_nan, 0x00) == 0x7E);
}

TEST_CASE("random bits that are missing, too many or not asked for are refused") {
  const auto message = [](const Conversion& how, Random random) {
    Flags flags;
    try {
      convert(0x3F800000, kF32, kE4m3fn, how, flags, random);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  CHECK(message(stochastic(Rounding::stochastic_floor, 8), {}) ==
        "a conversion into e4m3fn: rounding 'stochastic_floor' needs a random number of 8 bits");
  CHECK(message(stochastic(Rounding::stochastic_floor, 8), 256).find("takes 8 random bits, 256 has more") != std::string::npos);
  CHECK(message(stochastic(Rounding::stochastic_floor, 0), 0).find("1 to 32 random bits, not 0") != std::string::npos);
  CHECK(message(stochastic(Rounding::stochastic_odd, 33), 0).find("1 to 32 random bits, not 33") != std::string::npos);
  CHECK(message(stochastic(Rounding::stochastic_add, 21), 0).find("1 to 20 random bits, not 21") != std::string::npos);
  CHECK(message(stochastic(Rounding::nearest_even, 8), {}).find("takes no random bits") != std::string::npos);
  CHECK(message(stochastic(Rounding::nearest_even, 0), 1).find("takes no random bits") != std::string::npos);
  CHECK(message(stochastic(Rounding::stochastic_floor, 32), 0xFFFFFFFF) == "nothing was thrown");
  Flags flags;
  CHECK_THROWS_AS(round_to(decode(kF32, 0x3F800001), kE4m3fn, Rounding::stochastic_floor, flags), Error);
}

// PTX ISA 9.1 cvt says which bits; their reverse order in every other number is what SM100 was seen to do.
TEST_CASE("neighbours share a random word as PTX's cvt.rs has it") {
  constexpr std::uint32_t kWord = 0x80C1A2F3;
  const auto drawn_of = [](const Format& to) {
    std::vector<std::uint32_t> bits;
    for (int i = 0; i < numbers_of_word(to); ++i) bits.push_back(random_of_word(kWord, i, to));
    return bits;
  };
  using Bits = std::vector<std::uint32_t>;
  CHECK(drawn_of(kBf16) == Bits{0xA2F3, 0x80C1});
  CHECK(drawn_of(kFp16) == Bits{0x02F3, 0x00C1});
  for (const Format* to : {&kE4m3fn, &kE5m2, &kE2m3, &kE3m2}) CHECK(drawn_of(*to) == Bits{0xA2F3, 0xCF45, 0x80C1, 0x8301});
  CHECK(drawn_of(kE2m1) == Bits{0xC1F3, 0xCF83, 0x80A2, 0x4501});
  CHECK_THROWS_AS(numbers_of_word(kE8m0), Error);
  CHECK_THROWS_AS(numbers_of_word(kF32), Error);
  // 1.25 lies half between 1 and 1.5: up with 0xC1F3 and 0xCF83 of 2^16, down with 0x4501.
  const Conversion& how = conversion(profile_named("ptx-rs"), kF32, kE2m1);
  CHECK(drawn(0x3FA00000, kE2m1, how, random_of_word(kWord, 0, kE2m1)) == 3);
  CHECK(drawn(0x3FA00000, kE2m1, how, random_of_word(kWord, 3, kE2m1)) == 2);
  CHECK(drawn(0x3FA00000, kE2m1, how, 0x8000) == 3);
  CHECK(drawn(0x3FA00000, kE2m1, how, 0x7FFF) == 2);
}
