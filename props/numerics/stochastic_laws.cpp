// N2 for stochastic roundings: how many random numbers round up, from the grid of values and integers alone.

#include <rapidcheck.h>

#include <algorithm>

#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr int kF32MantissaBits = 23;

/// numerator / 2^places, below 1.
struct Fraction {
  std::uint64_t numerator;
  int places;
};

/// floor(f * 2^bits) and what is left of it.
struct Scaled {
  std::uint64_t whole;
  bool above_half;
  bool half;
};

Scaled scaled(const Fraction& fraction, int bits) {
  const int down = fraction.places - bits;
  if (down <= 0) return {fraction.numerator << -down, false, false};
  // Numerators are below 2^24: further down nothing is left.
  if (down > 26) return {0, false, false};
  const std::uint64_t unit = std::uint64_t{1} << down;
  const std::uint64_t rest = fraction.numerator % unit;
  return {fraction.numerator / unit, 2 * rest > unit, 2 * rest == unit};
}

/// Where a magnitude lies between the value of `code` and the next one. Patterns are linear in between, but for what follows zero.
Fraction fraction_at(const Grid& grid, std::size_t code, std::uint32_t magnitude) {
  const std::uint32_t low = grid.values[code];
  const std::uint32_t high = grid.values[code + 1];
  const std::uint32_t hidden = 1U << kF32MantissaBits;
  if (low == 0 && high > hidden) {
    const bool normal = magnitude >= hidden;
    const std::uint64_t significand = normal ? (magnitude % hidden) + hidden : magnitude;
    const std::uint32_t field = normal ? magnitude >> kF32MantissaBits : 1U;
    // high is a power of two: its significand is 2^23.
    return {significand, kF32MantissaBits + static_cast<int>((high >> kF32MantissaBits) - field)};
  }
  int places = 0;
  while ((1U << places) < high - low) ++places;
  return {magnitude - low, places};
}

/// How many of the 2^bits random numbers round up: the largest ones.
std::uint64_t ups(const Fraction& fraction, const Format& to, Rounding rounding, int bits) {
  const Scaled at_bits = scaled(fraction, bits);
  switch (rounding) {
    case Rounding::stochastic_odd: return (scaled(fraction, bits + 1).whole + 1) / 2;
    case Rounding::stochastic_nearest: return at_bits.whole + (at_bits.above_half || (at_bits.half && at_bits.whole % 2 == 1) ? 1U : 0U);
    case Rounding::stochastic_add: {
      const int aligned = kF32MantissaBits - to.mantissa_bits;
      const std::uint64_t missing = (std::uint64_t{1} << aligned) - scaled(fraction, aligned).whole;
      const std::uint64_t randoms = std::uint64_t{1} << bits;
      return randoms > missing ? randoms - missing : 0U;
    }
    default: return at_bits.whole;
  }
}

std::uint32_t low_bits(int bits) { return bits == 32 ? 0xFFFFFFFFU : (1U << bits) - 1U; }

/// Three random numbers around the one from which on values round up, and any one.
std::uint32_t pick_random(std::uint64_t first_up, int bits) {
  const std::uint64_t near = first_up + pick_uniform(0, 2);
  if (pick_uniform(0, 3) != 0 && near >= 1) return static_cast<std::uint32_t>(std::min<std::uint64_t>(near - 1, low_bits(bits)));
  return pick_uniform(0, low_bits(bits));
}

}  // namespace

Outcome share_is_fraction(const Law& law) {
  const Rounding rounding = rounding_named(subject_of(law));
  return check_property(law, [&] {
    const std::vector<Grid>& grids = all_grids();
    const Grid& grid = grids[pick_uniform(0, static_cast<std::uint32_t>(grids.size()) - 1)];
    const Format& to = *grid.format;
    const int most = rounding == Rounding::stochastic_add ? kF32MantissaBits - to.mantissa_bits : 32;
    const int bits = static_cast<int>(pick_uniform(1, static_cast<std::uint32_t>(most)));
    const std::uint32_t f32 = pick_boundary(grid);
    const std::uint32_t magnitude = f32 & ~kSign;
    const auto above = std::upper_bound(grid.values.begin(), grid.values.end(), magnitude);
    // Beyond the largest value all saturates, below E8M0's smallest one all becomes that.
    if (above == grid.values.begin() || above == grid.values.end()) return;
    const auto code = static_cast<std::size_t>(above - grid.values.begin()) - 1;
    const std::uint64_t first_up = (std::uint64_t{1} << bits) - ups(fraction_at(grid, code, magnitude), to, rounding, bits);
    const std::uint32_t random = pick_random(first_up, bits);
    RC_LOG(std::string(to.name) + " f32 " + hex(f32) + ", " + std::to_string(bits) + " random bits " + hex(random));
    const std::uint32_t expected = static_cast<std::uint32_t>(code) + (random >= first_up ? 1U : 0U);
    Flags flags;
    const Conversion how{rounding, Overflow::saturate, NanRule::fixed, 0, 0, 0, false, bits};
    RC_ASSERT(convert(f32, kF32, to, how, flags, random) == signed_code(grid, expected, f32 >= kSign));
  });
}

}  // namespace mx::props::numerics
