// The fast twin against the model, bit for bit, for every conversion that it accepts.

#include <algorithm>
#include <string>

#include "kernels/sweep/encode.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

template <class Code>
void compare_narrow(const std::vector<std::uint32_t>& inputs, const Format& to, const Conversion& how, const std::vector<std::uint32_t>& codes,
                    const kernels::IsaTier& tier, Comparison& comparison) {
  std::vector<Code> narrow(inputs.size());
  kernels::encode(inputs, to, how, narrow, tier);
  comparison.expect(std::equal(narrow.begin(), narrow.end(), codes.begin(), codes.end()), [&] {
    return std::string(tier.name) + ": " + std::string(to.name) + " " + text_of(how) + ": codes of " + std::to_string(sizeof(Code)) +
           " bytes that are not those of 4";
  });
}

void compare(const std::vector<std::uint32_t>& inputs, const Format& to, const Conversion& how, Comparison& comparison) {
  std::vector<std::uint32_t> expected;
  for (const std::uint32_t input : inputs) expected.push_back(convert(input, kF32, to, how));
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    if (!kernels::runs_here(tier)) continue;
    std::vector<std::uint32_t> codes(inputs.size());
    kernels::encode(inputs, to, how, codes, tier);
    if (to.width <= 16) compare_narrow<std::uint16_t>(inputs, to, how, codes, tier, comparison);
    if (to.width <= 8) compare_narrow<std::uint8_t>(inputs, to, how, codes, tier, comparison);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      comparison.expect(codes[i] == expected[i], [&] {
        return std::string(tier.name) + ": " + std::string(to.name) + " " + text_of(how) + " " + hex(inputs[i]) + ": " + hex(codes[i]) + ", model " +
               hex(expected[i]);
      });
    }
  }
}

}  // namespace

namespace {

/// 2^16 patterns; an odd stride reaches every low part of the pattern.
std::vector<std::uint32_t> strided_patterns() {
  std::vector<std::uint32_t> strided(1U << 16);
  for (std::uint32_t i = 0; i < strided.size(); ++i) strided[i] = i * 65539U * 4099U;
  return strided;
}

/// The conversion with every way to flush and, where the format has them, NaNs with payload.
std::vector<Conversion> variants(const Conversion& how, const FormatFacts& facts) {
  std::vector<Conversion> out;
  for (Flush flush : {Flush::none, Flush::source, Flush::target, Flush::both}) {
    for (NanRule rule : {NanRule::fixed, NanRule::keep_payload, NanRule::quiet_payload}) {
      if (rule != NanRule::fixed && !facts.has_inf) continue;
      Conversion variant = how;
      variant.flush = flush;
      variant.nan_rule = rule;
      out.push_back(variant);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the twin equals the model for every rounding and overflow rule on boundaries and on 2^16 patterns") {
  const std::vector<std::uint32_t> strided = strided_patterns();
  Comparison comparison;
  int conversions = 0;
  for (const FormatFacts& facts : all_facts()) {
    const Format& to = format_named(facts.name);
    const std::vector<std::uint32_t> boundaries = boundary_patterns(facts);
    for (const Conversion& how : all_conversions(facts)) {
      REQUIRE(kernels::has_encode(to, how));
      ++conversions;
      compare(boundaries, to, how, comparison);
      compare(strided, to, how, comparison);
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  // 6 roundings, with 1 overflow rule for four formats, 3 for three, 6 for three; without a sign, negative values as NaN or not: UE4M3 and UE5M3 6
  // roundings and 3 rules, E8M0 8 and 3.
  CHECK(conversions == 6 * (4 * 1 + 3 * 3 + 3 * 6) + 2 * (6 + 6 + 8) * 3);
}

TEST_CASE("the twin equals the model under every way to flush and NaN payload rule") {
  Comparison comparison;
  for (const FormatFacts& facts : all_facts()) {
    const Format& to = format_named(facts.name);
    std::vector<std::uint32_t> patterns = boundary_patterns(facts);
    // The 16-bit formats have a hundred thousand boundaries; every 37th is enough beside the ends, where subnormals and NaNs are.
    if (facts.width > 8) {
      std::vector<std::uint32_t> some(patterns.begin(), patterns.begin() + 64);
      for (std::size_t i = 64; i < patterns.size(); i += 37) some.push_back(patterns[i]);
      some.insert(some.end(), patterns.end() - 64, patterns.end());
      patterns = some;
    }
    for (std::uint32_t payload : {0x7F800001U, 0x7FBFFFFFU, 0x7FC00000U, 0xFF802000U, 0xFFFFFFFFU, 0x00000001U, 0x807FFFFFU})
      patterns.push_back(payload);
    for (const Conversion& how : all_conversions(facts)) {
      for (const Conversion& variant : variants(how, facts)) compare(patterns, to, variant, comparison);
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 5'000'000);
}

TEST_CASE("the twin knows every deterministic cast from f32 of every profile") {
  int casts = 0;
  for (const Profile& profile : all_profiles()) {
    for (const ConversionRow& row : profile.conversions) {
      const bool refuses_nan = row.how.nan_rule == NanRule::refused || row.how.before != Preparation{} || reads_source_bits(row.how.rounding);
      if ((row.from != nullptr && *row.from != kF32) || row.to->width > 16 || is_stochastic(row.how.rounding) || refuses_nan) continue;
      INFO(profile.name << " -> " << row.to->name);
      CHECK(kernels::has_encode(*row.to, row.how));
      ++casts;
    }
  }
  CHECK(casts > 50);
}

TEST_CASE("the twin equals the model for a negative number into formats of a user without sign, whatever their last codes are") {
  Comparison comparison;
  for (const std::string_view text : {"ue3m2,bias=3,ieee", "ue3m2,bias=3,fn", "ue3m2,bias=4,inf-top"}) {
    const Format& to = format_named(text);
    const Conversion& how = conversion(profile_named("round=rne,overflow=ieee,nan=0,negative=nan"), kF32, to);
    REQUIRE(kernels::has_encode(to, how));
    compare(strided_patterns(), to, how, comparison);
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(comparison.count > 100'000);
}

TEST_CASE("the twin refuses what only the model does") {
  const Conversion ocp = conversion(profile_named(kOcp), kF32, kE4m3fn);
  Conversion refusing = ocp;
  refusing.nan_rule = NanRule::refused;
  Conversion prepared = ocp;
  prepared.before.least_input = 0;
  Conversion searching = ocp;
  searching.rounding = Rounding::first_least_distance;
  Conversion stochastic = ocp;
  stochastic.rounding = Rounding::stochastic_floor;
  stochastic.random_bits = 8;
  Conversion powers = ocp;
  powers.rounding = Rounding::nearest_up;
  Conversion wrapping = ocp;
  wrapping.overflow = Overflow::wrap;
  for (const Conversion& how : {refusing, stochastic, powers, prepared, searching, wrapping}) {
    CHECK_FALSE(kernels::has_encode(kE4m3fn, how));
    const std::vector<std::uint32_t> one{0x3F800000};
    std::vector<std::uint32_t> codes(1);
    CHECK_THROWS_AS(kernels::encode(one, kE4m3fn, how, codes), Error);
  }
  const std::vector<std::uint32_t> one{0x3F800000};
  std::vector<std::uint32_t> codes(1);
  CHECK_THROWS_AS(kernels::encode(one, kF32, conversion(profile_named(kOcp), kF32, kF32), codes), Error);
  codes.resize(2);
  CHECK_THROWS_AS(kernels::encode(one, kE4m3fn, ocp, codes), Error);
  std::vector<std::uint8_t> bytes(2);
  CHECK_THROWS_WITH(kernels::encode(one, kE4m3fn, ocp, bytes), Catch::Contains("1 inputs into 2 codes"));
  CHECK_THROWS_WITH(kernels::encode(std::span(codes).first(1), kBf16, ocp, std::span(bytes).first(1)), Catch::Contains("bf16 has codes of 16 bits"));
  const std::span<std::uint8_t> inside(reinterpret_cast<std::uint8_t*>(codes.data()) + 2, 2);
  CHECK_THROWS_WITH(kernels::encode(codes, kE4m3fn, ocp, inside), Catch::Contains("overlap"));
  CHECK_THROWS_AS(kernels::sweep_digest(256, kE4m3fn, ocp), Error);
  CHECK_THROWS_AS(kernels::sweep_digests(kE4m3fn, stochastic), Error);
  std::vector<std::uint32_t> both(5, 0x3F800000);
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
    const auto inputs = std::span(both).subspan(first, 4);
    CHECK_THROWS_WITH(kernels::encode(inputs, kE4m3fn, ocp, std::span(both).subspan(1 - first, 4)), Catch::Contains("overlap"));
    CHECK(both == std::vector<std::uint32_t>(5, 0x3F800000));
  }
  // Words that begin within others: only asked for, never read.
  const auto begin = reinterpret_cast<std::uintptr_t>(both.data());
  for (const std::size_t byte : {1U, 2U, 3U}) {
    const std::span<std::uint32_t> within(reinterpret_cast<std::uint32_t*>(begin + byte), 1);
    const std::string words = "not a multiple of 4: " + std::to_string(byte) + " beyond one";
    CHECK_THROWS_WITH(kernels::encode(within, kE4m3fn, ocp, std::span(both).last(1)), Catch::Contains("the inputs begin") && Catch::Contains(words));
    CHECK_THROWS_WITH(kernels::encode(std::span(both).last(1), kE4m3fn, ocp, within), Catch::Contains("the codes begin") && Catch::Contains(words));
  }
  const kernels::IsaTier lacking{"all", ~0U};
  CHECK_THROWS_WITH(kernels::encode(both, kE4m3fn, ocp, both, lacking), Catch::Contains("cannot run the instruction sets 'all'"));
  CHECK_THROWS_WITH(kernels::sweep_digest(0, kE4m3fn, ocp, lacking), Catch::Contains("cannot run the instruction sets 'all'"));
  CHECK(both == std::vector<std::uint32_t>(5, 0x3F800000));
  kernels::encode(both, kE4m3fn, ocp, both);
  CHECK(both == std::vector<std::uint32_t>(5, 0x38));
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
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    INFO(tier.name);
    if (kernels::runs_here(tier)) CHECK(kernels::sweep_digest(chunk, kE2m1, how, tier) == expected);
  }
}
