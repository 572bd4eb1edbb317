// The scale rules of all profiles against their definitions: quotients and logarithms by MPFR at every threshold, and every positive fp32 number
// against the exact thresholds.

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "model/numerics/profile.hpp"
#include "props/numerics/scale_facts.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;
using mx::props::numerics::all_scale_facts;
using mx::props::numerics::ElementFacts;
using mx::props::numerics::first_reaching;
using mx::props::numerics::Reach;
using mx::props::numerics::ScaleFacts;

namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr long kExact = 200;

/// fp32 bits of amax / divisor or amax * RN(1 / divisor), by MPFR.
std::uint32_t mpfr_quotient(std::uint32_t amax, double divisor, bool by_reciprocal) {
  MpfrNumber number(kExact);
  mpfr_set_flt(number.get(), std::bit_cast<float>(amax), MPFR_RNDN);
  if (!by_reciprocal) {
    mpfr_div_d(number.get(), number.get(), divisor, MPFR_RNDN);
    return rounded_bits(number.get(), kF32Range);
  }
  MpfrNumber reciprocal(kExact);
  mpfr_set_ui(reciprocal.get(), 1, MPFR_RNDN);
  mpfr_div_d(reciprocal.get(), reciprocal.get(), divisor, MPFR_RNDN);
  mpfr_mul_d(number.get(), number.get(), std::bit_cast<float>(rounded_bits(reciprocal.get(), kF32Range)), MPFR_RNDN);
  return rounded_bits(number.get(), kF32Range);
}

/// floor of the correctly rounded fp32 log2, by MPFR.
long mpfr_floor_log2(std::uint32_t amax) {
  MpfrNumber exact(kExact);
  mpfr_set_flt(exact.get(), std::bit_cast<float>(amax), MPFR_RNDN);
  mpfr_log2(exact.get(), exact.get(), MPFR_RNDN);
  MpfrNumber rounded(24);
  mpfr_set(rounded.get(), exact.get(), MPFR_RNDN);
  mpfr_floor(rounded.get(), rounded.get());
  return mpfr_get_si(rounded.get(), MPFR_RNDN);
}

/// Exponent of the power of two at or above (up) or at or below a positive fp32 number; of zero -200.
int power_of(std::uint32_t f32, bool up) {
  if (f32 == 0) return -200;
  int exponent = 0;
  const double fraction = std::frexp(f32_value(f32), &exponent);
  return up && fraction != 0.5 ? exponent : exponent - 1;
}

std::uint32_t byte_of(int exponent, std::uint32_t overflow) {
  return exponent > 127 ? overflow : static_cast<std::uint32_t>(std::max(exponent + 127, 0));
}

/// The byte by definition, for a positive finite amax; the numerics specification, section 3.
std::uint32_t defined_scale(std::uint32_t amax, const ScaleFacts& facts, const ElementFacts& element) {
  const double power = std::ldexp(1.0, element.emax);
  const double top = std::ldexp(static_cast<double>(element.top), element.top_exponent);
  // A subnormal quotient: its next power of two is at least 2^-126, unless it counts as 2^-127 or 0.
  const auto up = [&](std::uint32_t quotient) {
    using mx::props::numerics::Bottom;
    if (facts.bottom == Bottom::subnormal && quotient < 0x00800000U) return 0U;
    if (facts.bottom == Bottom::smallest_scale && quotient <= 0x00400000U) return 0U;
    return quotient == 0 ? 0U : byte_of(std::max(power_of(quotient, true), -126), facts.overflow);
  };
  const auto down = [&](std::uint32_t quotient) { return byte_of(std::max(power_of(quotient, false), -127), facts.overflow); };
  switch (facts.reach) {
    case Reach::power: return byte_of(power_of(amax, false) - element.emax, facts.overflow);
    case Reach::above_power: return amax < 0x00800000U ? 0U : byte_of(power_of(amax, true) - element.emax, facts.overflow);
    case Reach::quotient: return down(mpfr_quotient(amax, power, false));
    case Reach::above_quotient: return up(mpfr_quotient(amax, power, false));
    case Reach::above_max: return up(mpfr_quotient(amax, top, false));
    case Reach::above_max_product: return up(mpfr_quotient(amax, top, true));
    case Reach::half_up: {
      // Half a unit of the last kept mantissa bit is added to the significand in [1, 2).
      const int exponent = power_of(amax, false);
      const double significand = std::ldexp(f32_value(amax), -exponent) + std::ldexp(1.0, -element.mantissa_bits - 1);
      const int rounded = exponent + (significand >= 2.0 ? 1 : 0);
      return rounded > 127 ? facts.infinite : byte_of(rounded - element.emax, facts.overflow);
    }
    case Reach::log2: return byte_of(static_cast<int>(mpfr_floor_log2(amax)) - element.emax, facts.overflow);
    case Reach::log2_no_emax: break;
  }
  return std::max(byte_of(static_cast<int>(mpfr_floor_log2(amax)), facts.overflow), 1U);
}

/// What scale_code reads of a recipe.
struct Swept {
  MxScale scale;
  Format element;
  friend bool operator==(const Swept&, const Swept&) = default;
};

const MxScale& scale_of(const Recipe& recipe) { return std::get<MxRecipe>(recipe.how).scale; }

}  // namespace

TEST_CASE("scale bytes at and around every threshold are those of the definition") {
  for (const ScaleFacts& facts : all_scale_facts()) {
    for (const Recipe& recipe : profile_named(facts.profile).recipes) {
      if (!std::holds_alternative<MxRecipe>(recipe.how)) continue;
      const ElementFacts& element = props::numerics::facts_of(*recipe.format->element);
      Comparison comparison;
      const auto check = [&](std::uint32_t amax) {
        if (amax == 0 || amax >= kInfinity) return;
        const std::uint32_t byte = scale_code(amax, *recipe.format->element, scale_of(recipe));
        const std::uint32_t expected = defined_scale(amax, facts, element);
        comparison.expect(byte == expected, [&] { return hex(amax) + " gives " + hex(byte) + ", expected " + hex(expected); });
      };
      for (std::uint32_t byte = 1; byte < 256; ++byte) {
        const std::uint32_t first = first_reaching(byte, facts, element);
        // Wide enough for the logarithm, which rounds up from 44 units below a power of two.
        for (std::uint32_t i = 0; i < 101; ++i) check(first + i - 50U);
        // Around the power itself and the largest value times it, wherever the stated threshold is.
        for (std::uint32_t center : {first & 0x7F800000U, (first & 0x7F800000U) | 0x00400000U, (first & 0x7F800000U) | 0x00600000U}) {
          for (std::uint32_t i = 0; i < 5; ++i) check(center + i - 2U);
        }
      }
      for (std::uint32_t amax = 1; amax != 0 && amax < kInfinity; amax += 0x1000F1U) check(amax);
      INFO(facts.profile << " " << recipe.format->name << ": " << comparison.first);
      CHECK(comparison.failures == 0);
      CHECK(comparison.count > 20'000);
    }
  }
}

TEST_CASE("every positive fp32 number has the scale byte of the exact thresholds", "[.exhaustive]") {
  std::vector<Swept> done;
  for (const ScaleFacts& facts : all_scale_facts()) {
    for (const Recipe& recipe : profile_named(facts.profile).recipes) {
      const auto* how = std::get_if<MxRecipe>(&recipe.how);
      if (how == nullptr) continue;
      Swept one{how->scale, *recipe.format->element};
      one.scale.amax_nan = AmaxNan::propagates;  // the one member that speaks of blocks
      if (std::ranges::find(done, one) != done.end()) continue;
      done.push_back(one);
      const ElementFacts& element = props::numerics::facts_of(*recipe.format->element);
      std::array<std::uint32_t, 257> first{};
      for (std::uint32_t byte = 1; byte < 256; ++byte) first[byte] = first_reaching(byte, facts, element);
      first[256] = kInfinity;
      std::uint64_t counted = 0;
      std::uint64_t differing = 0;
      for (std::uint32_t reached = 0; reached < 256; ++reached) {
        const std::uint32_t begin = reached == 0 ? 1U : first[reached];
        if (begin >= first[reached + 1]) continue;
        const std::uint32_t expected = props::numerics::restated_scale(begin, facts, element);
#pragma omp parallel for reduction(+ : differing) schedule(static)
        for (std::uint32_t amax = begin; amax < first[reached + 1]; ++amax) {
          differing += scale_code(amax, *recipe.format->element, how->scale) == expected ? 0U : 1U;
        }
        counted += first[reached + 1] - begin;
      }
      std::printf("%-26s %-16s %llu amax, %llu differ\n", facts.profile.data(), recipe.format->name.data(), static_cast<unsigned long long>(counted),
                  static_cast<unsigned long long>(differing));
      std::fflush(stdout);
      CHECK(differing == 0);
      CHECK(counted == kInfinity - 1);
    }
  }
}
