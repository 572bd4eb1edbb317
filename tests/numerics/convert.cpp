// Conversions against a search among all values of the target format, for every rounding and overflow rule.

#include "model/numerics/convert.hpp"

#include <cmath>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/counts.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

void compare_all(const Format& from, const std::vector<std::uint32_t>& patterns, const Format& to, Comparison& comparison) {
  const SearchEncoder search(facts_of(to));
  std::vector<double> values;
  for (std::uint32_t code : patterns) values.push_back(f32_value(to_f32(code, from)));
  for (const Conversion& how : all_conversions(facts_of(to))) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const std::uint32_t expected = search.encode(values[i], how);
      const std::uint32_t code = convert(patterns[i], from, to, how);
      comparison.expect(code == expected, [&] {
        return std::string(from.name) + " " + hex(patterns[i]) + " -> " + std::string(to.name) + " " + text_of(how) + ": " + hex(code) +
               ", expected " + hex(expected);
      });
    }
  }
}

std::vector<std::uint32_t> every_code(int width) {
  std::vector<std::uint32_t> codes(std::size_t{1} << width);
  for (std::uint32_t code = 0; code < codes.size(); ++code) codes[code] = code;
  return codes;
}

Flags flags_of(std::uint32_t f32, const Format& to, Overflow overflow) {
  Flags flags;
  convert(f32, kF32, to, {Rounding::nearest_even, overflow, NanRule::fixed, 0x7F, 0x7F, 0x00, true}, flags);
  return flags;
}

}  // namespace

TEST_CASE("every bf16 and fp16 pattern converts into every small format as the search says") {
  Comparison comparison;
  for (const FormatFacts& facts : all_facts()) {
    if (facts.width > 8) continue;
    for (const Format* from : {&kBf16, &kFp16}) compare_all(*from, every_code(16), format_named(facts.name), comparison);
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 20'000'000);
}

TEST_CASE("fp32 values at and around every value and midpoint convert as the search says") {
  Comparison comparison;
  for (const FormatFacts& facts : all_facts()) {
    compare_all(kF32, boundary_patterns(facts), format_named(facts.name), comparison);
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 5'000'000);
}

TEST_CASE("8-bit codes convert into each other as the search says") {
  Comparison comparison;
  for (const FormatFacts& from : all_facts()) {
    if (from.width > 8) continue;
    for (const FormatFacts& to : all_facts()) compare_all(format_named(from.name), every_code(from.width), format_named(to.name), comparison);
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
}

TEST_CASE("rounding gives an exact value on the grid") {
  Flags flags;
  // 464 is the midpoint of 448 and the 480 that e4m3fn does not have; the grid has no top here.
  const Value rounded = round_to(decode(kF32, 0x43E80001U), kE4m3fn, Rounding::nearest_even, flags);
  CHECK(canonical(rounded) == Value{.significand = 15, .exponent = 5, .cls = ValueClass::finite, .negative = false});
  CHECK(flags == Flags{.inexact = true});
  flags = {};
  const Value zero = round_to(decode(kF32, 0x80000001U), kE2m1, Rounding::nearest_even, flags);
  CHECK(zero == Value{.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = true});
  CHECK(flags == Flags{.inexact = true, .underflow = true});
  // A significand with all 64 bits, shifted out entirely.
  flags = {};
  const Value wide{.significand = ~std::uint64_t{0}, .exponent = -200, .cls = ValueClass::finite, .negative = false};
  CHECK(round_to(wide, kE2m1, Rounding::toward_positive, flags).significand == 1);
  CHECK(round_to(wide, kE2m1, Rounding::nearest_even, flags).cls == ValueClass::zero);
}

TEST_CASE("flags name what happened") {
  struct Row {
    std::uint32_t f32;
    const Format* to;
    Overflow overflow;
    Flags flags;
  };
  const std::vector<Row> rows{
      {0x3F800000, &kE4m3fn, Overflow::saturate, {}},
      {0x3F810000, &kE4m3fn, Overflow::saturate, {.inexact = true}},
      {0x3A800001, &kE4m3fn, Overflow::saturate, {.inexact = true, .underflow = true}},
      {0x3B000000, &kE4m3fn, Overflow::saturate, {}},                 // 2^-9: subnormal and exact
      {0x43E80000, &kE4m3fn, Overflow::saturate, {.inexact = true}},  // 464 rounds to 448: no overflow
      {0x43E80001, &kE4m3fn, Overflow::saturate, {.inexact = true, .overflow = true, .saturated = true}},
      {0x43E80001, &kE4m3fn, Overflow::nan, {.inexact = true, .overflow = true}},
      {0x7F800000, &kE4m3fn, Overflow::saturate, {.invalid = true, .saturated = true}},
      {0x7F800000, &kE5m2, Overflow::inf, {}},
      {0x7F800000, &kE5m2, Overflow::saturate, {.saturated = true}},
      {0x7FC00000, &kE5m2, Overflow::saturate, {.nan = true}},
      {0x7FC00000, &kE2m1, Overflow::saturate, {.invalid = true, .nan = true}},
      {0xBF800000, &kE8m0, Overflow::saturate, {.invalid = true}},
      {0x00000000, &kE8m0, Overflow::saturate, {.inexact = true}},
      {0x00000001, &kE8m0, Overflow::saturate, {.inexact = true, .underflow = true}},
  };
  for (const Row& row : rows) {
    INFO(hex(row.f32) << " -> " << row.to->name << " " << name_of(row.overflow));
    CHECK(flags_of(row.f32, *row.to, row.overflow) == row.flags);
  }
}

TEST_CASE("NaN payloads follow the two rules of 16-bit conversions") {
  const auto with = [](NanRule rule) { return Conversion{Rounding::nearest_even, Overflow::ieee, rule, 0, 0, 0, false}; };
  CHECK(convert(0x7F800001, kF32, kFp16, with(NanRule::keep_payload)) == 0x7C01);
  CHECK(convert(0xFFC02000, kF32, kFp16, with(NanRule::keep_payload)) == 0xFE01);
  CHECK(convert(0x7F800001, kF32, kFp16, with(NanRule::quiet_payload)) == 0x7E00);
  CHECK(convert(0xFF802000, kF32, kFp16, with(NanRule::quiet_payload)) == 0xFE01);
  CHECK(convert(0x7FFF, kBf16, kF32, with(NanRule::keep_payload)) == 0x7FFF0000);
  CHECK(convert(0x7F, kE4m3fn, kFp16, with(NanRule::keep_payload)) == 0x7F80);
}

TEST_CASE("subnormals are flushed before or after rounding, with their sign") {
  struct Row {
    std::uint32_t code;
    const Format* from;
    const Format* to;
    Flush flush;
    std::uint32_t expected;
    Flags flags;
  };
  const Flags inexact_only{.inexact = true};
  const Flags source_flushed{.inexact = true, .flushed = true};
  const Flags target_flushed{.inexact = true, .underflow = true, .flushed = true};
  const std::vector<Row> rows{
      // 2^-127 in fp32 is a subnormal of bf16 as well: 0x0040.
      {0x00400000, &kF32, &kBf16, Flush::none, 0x0040, {}},
      {0x00400000, &kF32, &kBf16, Flush::source, 0x0000, source_flushed},
      {0x80400000, &kF32, &kBf16, Flush::both, 0x8000, source_flushed},
      {0x80400000, &kF32, &kBf16, Flush::target, 0x8000, target_flushed},
      // 2^-8 is twice e4m3fn's smallest subnormal.
      {0x3B800000, &kF32, &kE4m3fn, Flush::target, 0x00, target_flushed},
      {0x3B800000, &kF32, &kE4m3fn, Flush::source, 0x02, {}},
      // Just under 2^-6 rounds up to it, which is no subnormal any more.
      {0x3C7FFFFF, &kF32, &kE4m3fn, Flush::target, 0x08, {.inexact = true, .underflow = true}},
      // The largest subnormal of fp16 is a normal number of e5m2's range only after it is rounded up to 2^-14.
      {0x03FF, &kFp16, &kE5m2, Flush::target, 0x04, {.inexact = true, .underflow = true}},
      {0x03FF, &kFp16, &kE5m2, Flush::both, 0x00, source_flushed},
      // One zero: no sign is left. What rounds to zero by itself was not flushed.
      {0xBB800000, &kF32, &kE4m3fnuz, Flush::target, 0x00, target_flushed},
      {0x00000001, &kF32, &kE4m3fn, Flush::target, 0x00, {.inexact = true, .underflow = true}},
      // Fixed-point formats have no subnormals.
      {0x3C800000, &kF32, &kMxint8, Flush::both, 0x01, {}},
      {0x3F810000, &kF32, &kE4m3fn, Flush::both, 0x38, inexact_only},
  };
  for (const Row& row : rows) {
    INFO(hex(row.code) << " " << row.from->name << " -> " << row.to->name << " flush " << static_cast<int>(row.flush));
    Conversion how{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
    how.flush = row.flush;
    Flags flags;
    CHECK(hex(convert(row.code, *row.from, *row.to, how, flags)) == hex(row.expected));
    CHECK(flags == row.flags);
  }
  Conversion how{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
  how.flush = Flush::source;
  Flags flags;
  CHECK_THROWS_AS(encode(decode(kF32, 0x3F800000), kE4m3fn, how, flags), Error);
}

TEST_CASE("a NaN that an implementation refuses is refused") {
  const Conversion how{Rounding::toward_zero, Overflow::saturate, NanRule::refused, 0, 0, 0, false};
  CHECK(convert(0x40C00001, kF32, kE2m1, how) == 0x7);
  CHECK_THROWS_AS(convert(0x7FC00000, kF32, kE2m1, how), Error);
  Flags flags;
  CHECK_THROWS_AS(encode(decode(kF32, 0xFFC00000), kE2m1, how, flags), Error);
}

TEST_CASE("a rule that the format cannot follow is refused") {
  const auto attempt = [](const Format& to, Rounding rounding, Overflow overflow, NanRule rule) {
    return [=, &to] { convert(0x3F800000, kF32, to, {rounding, overflow, rule, 0, 0, 0, false}); };
  };
  CHECK_THROWS_AS(attempt(kE2m1, Rounding::nearest_even, Overflow::nan, NanRule::fixed)(), Error);
  CHECK_THROWS_AS(attempt(kE4m3fn, Rounding::nearest_even, Overflow::inf, NanRule::fixed)(), Error);
  CHECK_THROWS_AS(attempt(kE8m0, Rounding::toward_zero, Overflow::inf, NanRule::fixed)(), Error);
  CHECK_THROWS_AS(attempt(kE4m3fn, Rounding::magnitude_up, Overflow::saturate, NanRule::fixed)(), Error);
  CHECK_THROWS_AS(attempt(kBf16, Rounding::nearest_up, Overflow::ieee, NanRule::fixed)(), Error);
  CHECK_THROWS_AS(attempt(kE4m3fn, Rounding::nearest_even, Overflow::saturate, NanRule::keep_payload)(), Error);
}

TEST_CASE("the ocp profile has a conversion into every format") {
  const Profile& ocp = profile_named("OCP");
  for (const Format& format : all_formats()) CHECK_NOTHROW(conversion(ocp, kF32, format));
  CHECK(conversion(ocp, kF32, kE4m3fn).overflow == Overflow::saturate);
  CHECK(convert(0xFFC00000, kF32, kE4m3fn, conversion(ocp, kF32, kE4m3fn)) == 0x7F);
  CHECK(convert(0xFF800000, kF32, kE5m2, conversion(ocp, kF32, kE5m2)) == 0xFB);
  CHECK(convert(0xC0800000, kF32, kMxint8, conversion(ocp, kF32, kMxint8)) == 0x81);
  CHECK_THROWS_AS(profile_named("ocq-nothing-like-it"), Error);
}

TEST_CASE("the ocp profiles round in every direction, saturating or not, from every source into every format") {
  const std::vector<std::pair<std::string, Rounding>> directions{{"", Rounding::nearest_even},
                                                                 {"-rna", Rounding::nearest_away},
                                                                 {"-rz", Rounding::toward_zero},
                                                                 {"-ru", Rounding::toward_positive},
                                                                 {"-rd", Rounding::toward_negative}};
  Comparison comparison;
  mx::tests::EveryNth picked(3);
  for (const auto& [suffix, rounding] : directions) {
    for (const bool saturates : {true, false}) {
      const Profile& profile = profile_named("ocp" + suffix + (saturates ? "" : "-nosat"));
      for (const FormatFacts& facts : all_facts()) {
        const Format& to = format_named(facts.name);
        // OFP8 1.0 section 5, MX 1.0 sections 5.3 and 6.3, IEEE 754 for the wide formats; the codes of NaN are those of ocp.
        Conversion expected = conversion(profile_named(kOcp), kF32, to);
        expected.rounding = facts.name == "e8m0" && rounding == Rounding::nearest_even ? Rounding::toward_zero : rounding;
        const bool clamps = saturates || !facts.has_nan;
        expected.overflow = facts.width > 8 ? Overflow::ieee : clamps ? Overflow::saturate : facts.has_inf ? Overflow::inf : Overflow::nan;
        const SearchEncoder search(facts);
        for (const Format* from : {&kF32, &kBf16, &kFp16}) {
          for (std::uint32_t pattern : boundary_patterns(facts)) {
            if (!picked()) continue;
            const std::uint32_t code = *from == kF32 ? pattern : convert(pattern, kF32, *from, conversion(profile_named("ocp-rz"), kF32, *from));
            const std::uint32_t got = convert(code, *from, to, conversion(profile, *from, to));
            comparison.expect(got == search.encode(f32_value(to_f32(code, *from)), expected), [&] {
              return std::string(profile.name) + " " + std::string(from->name) + " " + hex(code) + " -> " + std::string(to.name) + ": " + hex(got);
            });
          }
        }
      }
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
}

TEST_CASE("the non-saturating mode of OFP8 gives NaN or Inf above the range") {
  struct Row {
    std::string_view profile;
    std::uint32_t f32;
    const Format* to;
    std::uint32_t expected;
  };
  const std::vector<Row> rows{
      {"ocp-nosat", 0x43E80000, &kE4m3fn, 0x7E},     // 464, the midpoint: 448
      {"ocp-nosat", 0x43E80001, &kE4m3fn, 0x7F},     //
      {"ocp-nosat", 0xC3E80001, &kE4m3fn, 0xFF},     //
      {"ocp-nosat", 0x47700000, &kE5m2, 0x7C},       // 61440, the midpoint: even is above the range
      {"ocp-nosat", 0xFF800000, &kE5m2, 0xFC},       //
      {"ocp-nosat", 0x47700000, &kE5m2fnuz, 0x80},   //
      {"ocp-nosat", 0x43800000, &kE4m3fnuz, 0x80},   //
      {"ocp-nosat", 0x7F800000, &kE2m1, 0x07},       // no NaN, no Inf: clamped
      {"ocp-nosat", 0x40800000, &kMxint8, 0x7F},     //
      {"ocp-nosat", 0x7F800000, &kE8m0, 0xFF},       //
      {"ocp-rz-nosat", 0x43EFFFFF, &kE4m3fn, 0x7E},  // below 480
      {"ocp-rz-nosat", 0x43F00000, &kE4m3fn, 0x7F},  //
      {"ocp-ru-nosat", 0x43E00001, &kE4m3fn, 0x7F},  // just above 448
      {"ocp-ru", 0x43E00001, &kE4m3fn, 0x7E},        //
      {"ocp-ru-nosat", 0x7F000001, &kE8m0, 0xFF},    // above 2^127
      {"ocp-rna", 0x40200000, &kE2m1, 0x05},         // 2.5: 3, where nearest even gives 2
      {"ocp-rz-nosat", 0x7F7FFFFF, &kBf16, 0x7F7F},  // IEEE 754 section 7.4
  };
  for (const Row& row : rows) {
    INFO(row.profile << " " << hex(row.f32) << " -> " << row.to->name);
    CHECK(hex(convert(row.f32, kF32, *row.to, conversion(profile_named(row.profile), kF32, *row.to))) == hex(row.expected));
  }
}

TEST_CASE("words name roundings and overflow rules both ways") {
  for (const FormatFacts& facts : all_facts()) {
    for (const Conversion& how : all_conversions(facts)) {
      CHECK(rounding_named(name_of(how.rounding)) == how.rounding);
      CHECK(overflow_named(name_of(how.overflow)) == how.overflow);
    }
  }
  CHECK_THROWS_AS(rounding_named("up"), Error);
}
