// The fast twin against the model, bit for bit, for every conversion that it accepts.

#include "kernels/encode.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/oracle.hpp"

using namespace mx;
using namespace mx::test;

namespace {

void compare(const std::vector<std::uint32_t>& inputs, const Format& to, const Conversion& how, Comparison& comparison) {
  std::vector<std::uint32_t> codes(inputs.size());
  kernels::encode(inputs, to, how, codes);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::uint32_t expected = convert(inputs[i], kF32, to, how);
    comparison.expect(codes[i] == expected, [&] {
      return std::string(to.name) + " " + text_of(how) + " " + hex(inputs[i]) + ": " + hex(codes[i]) + ", model " + hex(expected);
    });
  }
}

}  // namespace

TEST_CASE("the twin equals the model on boundaries and on 2^20 patterns") {
  // An odd stride reaches every low part of the pattern.
  std::vector<std::uint32_t> strided(1U << 20);
  for (std::uint32_t i = 0; i < strided.size(); ++i) strided[i] = i * 4099U;
  Comparison comparison;
  int conversions = 0;
  for (const FormatFacts& facts : all_facts()) {
    const Format& to = format_named(facts.name);
    const std::vector<std::uint32_t> boundaries = boundary_patterns(facts);
    for (const Conversion& how : all_conversions(facts)) {
      if (!kernels::has_encode(to, how)) continue;
      ++conversions;
      compare(boundaries, to, how, comparison);
      compare(strided, to, how, comparison);
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  // Seven formats without and four with more than one overflow rule, and E8M0: a twin that accepts nothing would prove nothing.
  CHECK(conversions >= 40);
}

TEST_CASE("the twin knows the conversions of the ocp profile and refuses the others") {
  for (const FormatFacts& facts : all_facts()) {
    INFO(facts.name);
    const Format& to = format_named(facts.name);
    // A scale format without a sign, ue4m3, is the model's alone.
    CHECK(kernels::has_encode(to, conversion(profile_named(kOcp), kF32, to)) == (facts.name != "ue4m3"));
  }
  Conversion away = conversion(profile_named(kOcp), kF32, kE4m3fn);
  away.rounding = Rounding::nearest_away;
  CHECK_FALSE(kernels::has_encode(kE4m3fn, away));
  const std::vector<std::uint32_t> one{0x3F800000};
  std::vector<std::uint32_t> codes(1);
  CHECK_THROWS_AS(kernels::encode(one, kE4m3fn, away, codes), Error);
  CHECK_THROWS_AS(kernels::encode(one, kF32, conversion(profile_named(kOcp), kF32, kF32), codes), Error);
  codes.resize(2);
  CHECK_THROWS_AS(kernels::encode(one, kE4m3fn, conversion(profile_named(kOcp), kF32, kE4m3fn), codes), Error);
  CHECK_THROWS_AS(kernels::sweep_digest(256, kE4m3fn, conversion(profile_named(kOcp), kF32, kE4m3fn)), Error);
}

TEST_CASE("a digest word is the sum that the model's codes give") {
  const Conversion how = conversion(profile_named(kOcp), kF32, kE2m1);
  const std::uint32_t chunk = 0x40;  // 2.0 and up: every code of the positive half occurs
  std::uint64_t expected = 0;
  for (std::uint32_t i = chunk << 24; i < (chunk + 1) << 24; ++i) {
    std::uint64_t z = i + 0x9E3779B97F4A7C15U;
    z ^= z >> 30;
    z *= 0xBF58476D1CE4E5B9U;
    z ^= z >> 27;
    z *= 0x94D049BB133111EBU;
    z ^= z >> 31;
    expected += (std::uint64_t{convert(i, kF32, kE2m1, how)} + 1U) * z;
  }
  CHECK(kernels::sweep_digest(chunk, kE2m1, how) == expected);
}
