// The table of formats against the published extremes, and decoding of every code against the values that the documents define.

#include <cmath>

#include "model/error.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/value.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

double as_double(const Value& value) {
  const double sign = value.negative ? -1.0 : 1.0;
  if (value.cls == ValueClass::infinity) return sign * INFINITY;
  return sign * std::ldexp(static_cast<double>(value.significand), value.exponent);
}

std::string message_of(const std::string& name) {
  try {
    format_named(name);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("every code of every format decodes to the value that the documents define") {
  Comparison comparison;
  for (const FormatFacts& facts : all_facts()) {
    const Format& format = format_named(facts.name);
    for (std::uint32_t code = 0; code < (1U << facts.width); ++code) {
      const auto describe = [&] { return std::string(facts.name) + " " + hex(code); };
      const Value value = decode(format, code);
      const bool nan = is_nan_by_facts(facts, code);
      comparison.expect(is_nan_code(format, code) == nan && (value.cls == ValueClass::nan) == nan, describe);
      if (nan) continue;
      const double expected = value_of(facts, code);
      comparison.expect(as_double(value) == expected && std::signbit(as_double(value)) == std::signbit(expected), describe);
      comparison.expect(is_inf_code(format, code) == std::isinf(expected), describe);
      comparison.expect(f32_value(to_f32(code, format)) == expected, describe);
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 500000);
}

TEST_CASE("fp32 decodes exactly") {
  Comparison comparison;
  for (std::uint64_t i = 0; i < (std::uint64_t{1} << 32); i += 65521) {
    const auto bits = static_cast<std::uint32_t>(i);
    const Value value = decode(kF32, bits);
    const double expected = f32_value(bits);
    const bool holds = std::isnan(expected) ? value.cls == ValueClass::nan : as_double(value) == expected;
    comparison.expect(holds, [&] { return hex(bits); });
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
}

TEST_CASE("the extremes of the formats are the published ones") {
  CHECK(all_formats().size() == all_facts().size() + 1);
  for (const FormatFacts& facts : all_facts()) {
    INFO(facts.name);
    const Format& format = format_named(facts.name);
    CHECK(max_finite_code(format) == facts.max_code);
    CHECK(as_double(decode(format, facts.max_code)) == facts.max_value);
    CHECK(max_exponent(format) == std::ilogb(facts.max_value));
    const std::uint32_t least = facts.name == "e8m0" ? 0U : 1U;
    CHECK(as_double(decode(format, least)) == facts.min_value);
  }
  CHECK(max_finite_code(kF32) == 0x7F7FFFFFU);
}

TEST_CASE("formats are found by name, and a typo gets a suggestion") {
  CHECK(format_named("E4M3FN") == kE4m3fn);
  CHECK(format_named("e4m3") == kE4m3fn);
  CHECK(format_named("fp32") == kF32);
  CHECK(format_named("E8M0") == kE8m0);
  CHECK(message_of("e4m3fm").find("did you mean e4m3fn?") != std::string::npos);
  CHECK(message_of("").find("unknown format ''") != std::string::npos);
}

TEST_CASE("canonical values are equal when their numbers are") {
  CHECK(canonical({.significand = 12, .exponent = 3, .cls = ValueClass::finite, .negative = true}) ==
        Value{.significand = 3, .exponent = 5, .cls = ValueClass::finite, .negative = true});
  CHECK(canonical(decode(kBf16, 0x3F80)) == canonical(decode(kE2m1, 0x2)));
  CHECK(canonical({.significand = 7, .exponent = 9, .cls = ValueClass::infinity, .negative = true}) ==
        Value{.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = true});
}

TEST_CASE("a NaN becomes the quiet fp32 NaN with its sign") {
  CHECK(to_f32(0x7F, kE4m3fn) == 0x7FC00000U);
  CHECK(to_f32(0xFF, kE4m3fn) == 0xFFC00000U);
  CHECK(to_f32(0xFF, kE8m0) == 0x7FC00000U);
  CHECK(to_f32(0x7F800001U, kF32) == 0x7FC00000U);
}
