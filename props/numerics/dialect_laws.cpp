// Laws about dequantization dialects: N4.

#include <rapidcheck.h>

#include <array>
#include <bit>
#include <cmath>

#include "model/numerics/profile.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;

enum class Top { nan, infinite, nan_at_the_end };
enum class Above { infinite, largest, largest_even_for_nan };

/// What an implementation does, typed in from the numerics specification section 2 and engine specification section 7.
struct DialectFacts {
  std::string_view profile;
  bool byte_zero_is_zero;
  Top top;               ///< what scale byte 255 is
  bool scale_in_target;  ///< the scale is rounded to the target before it multiplies
  Above above;
};

constexpr std::array<DialectFacts, 7> kDialects{{
    {"ocp", false, Top::nan, false, Above::infinite},
    {"torchao-dequantize", false, Top::nan, true, Above::infinite},
    {"triton-kernels-dequantize", true, Top::infinite, false, Above::largest},
    {"triton-kernels-gpu-dequantize", true, Top::nan_at_the_end, true, Above::largest_even_for_nan},
    {"vllm-dequantize", false, Top::infinite, true, Above::infinite},
    {"marlin", true, Top::infinite, true, Above::infinite},
    {"deepseek-v4", true, Top::infinite, false, Above::infinite},
}};

const DialectFacts& dialect_of(std::string_view profile) {
  for (const DialectFacts& facts : kDialects) {
    if (facts.profile == profile) return facts;
  }
  throw std::logic_error("no facts about " + std::string(profile));
}

std::uint32_t infinity_of(const Format& target) { return target == kF32 ? 0x7F800000U : target == kBf16 ? 0x7F80U : 0x7C00U; }
double largest_of(const Format& target) { return target == kF32 ? 0x1.FFFFFEp127 : target == kBf16 ? 0x1.FEp127 : 65504.0; }
int least_exponent_of(const Format& target) { return target == kF32 ? -149 : target == kBf16 ? -133 : -24; }

/// Code of a magnitude with few bits: rounding happens at the target's smallest unit alone, where ties go to even.
std::uint32_t rounded_code(double magnitude, const Format& target, Above above) {
  if (magnitude > largest_of(target)) return infinity_of(target) - (above == Above::infinite ? 0U : 1U);
  const int unit = least_exponent_of(target);
  const double units = std::ldexp(magnitude, -unit);
  const double grid = units < 1024.0 ? std::ldexp(std::nearbyint(units), unit) : magnitude;
  if (target == kF32) return std::bit_cast<std::uint32_t>(static_cast<float>(grid));
  return searched_code(grid_of(target.name), std::bit_cast<std::uint32_t>(static_cast<float>(grid)), Rounding::nearest_even);
}

/// The scale as the dialect multiplies by it; NaN and Inf as doubles.
double scale_of(std::uint32_t byte, const Format& target, const DialectFacts& facts) {
  if (byte == 0xFF && facts.top == Top::nan) return NAN;
  if (byte == 0xFF) return INFINITY;
  if (byte == 0 && facts.byte_zero_is_zero) return 0;
  const double power = std::ldexp(1.0, static_cast<int>(byte) - 127);
  if (!facts.scale_in_target) return power;
  if (power > largest_of(target)) return INFINITY;
  return std::ldexp(std::nearbyint(std::ldexp(power, -least_exponent_of(target))), least_exponent_of(target));
}

bool dequantizes(std::uint32_t code, std::uint32_t byte, const Dequantizer& row, const DialectFacts& facts) {
  constexpr std::array kMagnitudes{0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
  const Format& target = *row.target;
  const std::uint32_t got = dequantize(code, byte, row);
  const double product = kMagnitudes[code % 8] * scale_of(byte, target, facts);
  const bool nan = std::isnan(product) && facts.above != Above::largest_even_for_nan;
  if (nan || (byte == 0xFF && facts.top == Top::nan_at_the_end)) return is_nan_code(target, got);
  if (std::isnan(product)) return got == infinity_of(target) - 1U;
  const std::uint32_t sign = code >= 8 ? kSign >> (32 - target.width) : 0U;
  return got == (rounded_code(product, target, facts.above) | sign);
}

}  // namespace

Outcome dialect_dequantizes(const Law& law) {
  const DialectFacts& facts = dialect_of(subject_of(law));
  const Profile& profile = profile_named(facts.profile);
  const auto property = [&] {
    const std::uint32_t code = pick_code(4);
    const std::uint32_t byte = pick_code(8);
    RC_LOG("code " + hex(code) + " scale " + hex(byte));
    for (const Dequantizer& row : profile.dequantizers) {
      if (row.format->name == kMxfp4.name) RC_ASSERT(dequantizes(code, byte, row, facts));
    }
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    for (const Dequantizer& row : profile.dequantizers) {
      if (row.format->name != kMxfp4.name) continue;
      for (std::uint32_t i = 0; i < 256 * 16; ++i) {
        exhaustive.expect(dequantizes(i % 16, i / 16, row, facts),
                          [&] { return "code " + hex(i % 16) + " under scale " + hex(i / 16) + " in " + std::string(row.target->name); });
      }
    }
  };
  return run_both(law, property, all_cases);
}

}  // namespace mx::props::numerics
