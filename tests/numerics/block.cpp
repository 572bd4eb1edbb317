// Block quantization against its definition in doubles, which hold every value that occurs exactly.

#include <bit>
#include <cmath>
#include <random>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

/// MX 1.0 section 6.3 with frexp: floor(log2 amax) - emax, within the scale's range.
std::uint32_t floor_scale(double amax, int emax) {
  if (!std::isfinite(amax)) return 0xFF;
  if (amax == 0) return 0;
  int exponent = 0;
  std::frexp(amax, &exponent);  // amax = f * 2^exponent with 0.5 <= f < 1
  return static_cast<std::uint32_t>(std::clamp(exponent - 1 - emax + 127, 0, 254));
}

struct EmaxRow {
  std::string_view block_format;
  int emax;  // MX 1.0 section 5.3
};
constexpr EmaxRow kEmax[] = {{"mxfp8_e4m3", 8}, {"mxfp8_e5m2", 15}, {"mxfp6_e2m3", 2}, {"mxfp6_e3m2", 4}, {"mxfp4", 2}, {"mxint8", 0}};

std::vector<std::uint32_t> random_block(std::mt19937& random, std::size_t size, const std::vector<std::uint32_t>& boundaries) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const int shift = static_cast<int>(below(254)) - 127;
  std::vector<std::uint32_t> block;
  for (std::size_t i = 0; i < size; ++i) {
    // Element boundaries moved to a common exponent: values next to ties after scaling.
    const float moved = std::ldexp(std::bit_cast<float>(boundaries[below(static_cast<std::uint32_t>(boundaries.size()))]), shift);
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(moved);
    const bool keep_special = below(400) == 0;
    const bool special = (bits & 0x7F800000U) == 0x7F800000U;
    block.push_back(special && !keep_special ? (bits & 0x80000000U) | below(0x800000U) : bits);
  }
  return block;
}

}  // namespace

TEST_CASE("quantized blocks are the definition's, for every block format") {
  const Profile& ocp = profile_named(kOcp);
  std::mt19937 random(20240229);
  Comparison comparison;
  std::uint64_t nan_blocks = 0;
  for (const EmaxRow& row : kEmax) {
    const BlockFormat& format = block_format_named(row.block_format);
    const Conversion how = conversion(ocp, kF32, *format.element);
    const FormatFacts& facts = facts_of(*format.element);
    const SearchEncoder search(facts);
    const std::vector<std::uint32_t> boundaries = boundary_patterns(facts);
    for (int round = 0; round < 20000; ++round) {
      const std::vector<std::uint32_t> block = random_block(random, 32U, boundaries);
      double amax = 0;
      for (std::uint32_t bits : block) {
        const double magnitude = std::fabs(f32_value(bits));
        if (!(magnitude <= amax)) amax = std::isnan(amax) ? amax : magnitude;
      }
      const QuantizedBlock quantized = quantize_block(block, kF32, Recipe{&format, ocp_recipe(how), {}});
      const std::uint32_t scale = floor_scale(amax, row.emax);
      nan_blocks += scale == 0xFF ? 1 : 0;
      const auto describe = [&] { return std::string(format.name) + " scale " + hex(quantized.scale) + ", expected " + hex(scale); };
      comparison.expect(quantized.scale == scale && quantized.codes.size() == block.size(), describe);
      for (std::size_t i = 0; i < block.size(); ++i) {
        const double element = scale == 0xFF ? NAN : std::ldexp(f32_value(block[i]), 127 - static_cast<int>(scale));
        const std::uint32_t expected = search.encode(element, how);
        comparison.expect(quantized.codes[i] == expected, [&] {
          return std::string(format.name) + " scale " + hex(scale) + " element " + hex(block[i]) + ": " + hex(quantized.codes[i]) + ", expected " +
                 hex(expected);
        });
      }
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 3'000'000);
  CHECK(nan_blocks > 100);
}

TEST_CASE("every element code under every scale dequantizes to the product rounded once") {
  Comparison comparison;
  for (const BlockFormat& format : all_block_formats()) {
    if (*format.scale != kE8m0) continue;
    const FormatFacts& facts = facts_of(*format.element);
    for (std::uint32_t scale = 0; scale < 256; ++scale) {
      for (std::uint32_t code = 0; code < (1U << facts.width); ++code) {
        const std::uint32_t bits = dequantize(code, scale, format);
        const auto describe = [&] { return std::string(format.name) + " " + hex(code) + " * " + hex(scale) + " = " + hex(bits); };
        if (scale == 0xFF || is_nan_by_facts(facts, code)) {
          comparison.expect(bits == 0x7FC00000U, describe);
          continue;
        }
        const double exact = std::ldexp(value_of(facts, code), static_cast<int>(scale) - 127);
        comparison.expect(bits == std::bit_cast<std::uint32_t>(static_cast<float>(exact)), describe);
        const Value value = scaled_value(code, scale, format);
        if (value.cls == ValueClass::finite) {
          comparison.expect(std::ldexp(static_cast<double>(value.significand), value.exponent) == std::fabs(exact), describe);
        }
      }
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 400'000);
}

TEST_CASE("special blocks") {
  const BlockFormat& mxfp4 = block_format_named("MXFP4");
  const Conversion how = conversion(profile_named(kOcp), kF32, kE2m1);
  // The given elements, then zeros to the end of the block; the codes of the given ones.
  const auto quantize = [&](std::vector<std::uint32_t> block) {
    const std::size_t given = block.size();
    block.resize(32, 0);
    QuantizedBlock quantized = quantize_block(block, kF32, Recipe{&mxfp4, ocp_recipe(how), {}});
    quantized.codes.resize(given);
    return quantized;
  };
  const auto quantize_part = [&](std::size_t size) {
    return quantize_block(std::vector<std::uint32_t>(size, 0), kF32, Recipe{&mxfp4, ocp_recipe(how), {}});
  };
  // All zero: scale code 0, signs kept. Source: torchao FLOOR (numerics section 3, special blocks).
  CHECK(quantize({0x00000000, 0x80000000}).scale == 0);
  CHECK(quantize({0x00000000, 0x80000000}).codes == std::vector<std::uint32_t>{0x0, 0x8});
  // Below the scale's range elements are still divided by 2^-127: 2^-128 is 0.5.
  CHECK(quantize({0x00200000}).scale == 0);
  CHECK(quantize({0x00200000}).codes == std::vector<std::uint32_t>{0x1});
  // Inf and NaN make the scale NaN and every element what the profile makes of a NaN.
  CHECK(quantize({0x3F800000, 0xFF800000}).scale == 0xFF);
  CHECK(quantize({0x3F800000, 0x7FC00000}).codes == std::vector<std::uint32_t>{0x7, 0x7});
  // The largest magnitude of fp4 is 6: 7 = 1.75 * 2^2 saturates under a floor scale.
  CHECK(quantize({0x40E00000}).scale == 127);
  CHECK(quantize({0x40E00000}).codes == std::vector<std::uint32_t>{0x7});
  CHECK_THROWS_AS(quantize_part(0), Error);
  CHECK_THROWS_AS(quantize_part(31), Error);
  CHECK_THROWS_AS(quantize_part(33), Error);
  CHECK_THROWS_AS(block_format_named("mxfp5"), Error);
  CHECK(scale_rule_named("Floor") == ScaleRule::floor);
  CHECK_THROWS_AS(scale_rule_named("ceiling"), Error);
}

TEST_CASE("a scale format with zeros and signs multiplies as numbers do") {
  const auto product = [](std::uint32_t code, std::uint32_t scale) { return dequantize(code, scale, kNvfp4); };
  CHECK(product(0x7, 0x3C) == 0x41100000);  // 6 * 1.5 = 9
  CHECK(product(0x7, 0xBC) == 0xC1100000);
  CHECK(product(0xF, 0xBC) == 0x41100000);
  CHECK(product(0x7, 0x00) == 0x00000000);
  CHECK(product(0x7, 0x80) == 0x80000000);
  CHECK(product(0x7, 0x7F) == 0x7FC00000);
}

TEST_CASE("a scale that loses the sign of its source says so") {
  const Conversion magnitude{Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0xFF, 0xFF, 0, false};
  Flags flags;
  CHECK(convert(0xC0000000, kF32, kE8m0, magnitude, flags) == 128);
  CHECK(flags.inexact);
  Flags exact;
  CHECK(convert(0x40000000, kF32, kE8m0, magnitude, exact) == 128);
  CHECK(exact == Flags{});
}

TEST_CASE("a name is one line in its error, whatever it holds") {
  try {
    format_named("a\nb\x1b[31m");
    FAIL("accepted");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.find("'a\\x0ab\\x1b[31m'") != std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
  }
}
