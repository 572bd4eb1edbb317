// Conversions from fp32 into plans.

#include "kernels/sweep/encode_plan.hpp"

#include <algorithm>
#include <array>

namespace mx::kernels::sweep {
namespace {

/// What rounding does to magnitudes of one sign.
enum class Direction { down, up, half_down, half_up, half_even };

struct RoundingRow {
  Rounding rounding;
  std::array<Direction, 2> directions;  ///< by sign
  bool has_lowest_midpoint;             ///< E8M0: whether [2^-127, 2^-126) has a midpoint like every other interval
};

constexpr std::array kRoundings{
    RoundingRow{Rounding::nearest_even, {Direction::half_even, Direction::half_even}, true},
    RoundingRow{Rounding::nearest_away, {Direction::half_up, Direction::half_up}, true},
    RoundingRow{Rounding::nearest_toward_zero, {Direction::half_down, Direction::half_down}, true},
    RoundingRow{Rounding::toward_zero, {Direction::down, Direction::down}, true},
    RoundingRow{Rounding::toward_positive, {Direction::up, Direction::down}, true},
    RoundingRow{Rounding::toward_negative, {Direction::down, Direction::up}, true},
    RoundingRow{Rounding::magnitude_up, {Direction::up, Direction::up}, true},
    RoundingRow{Rounding::nearest_up, {Direction::half_up, Direction::half_up}, false},
};

bool only_powers(Rounding rounding) { return rounding == Rounding::magnitude_up || rounding == Rounding::nearest_up; }

/// What is added before `shift` bits are cut off; half_even adds the last bit that is kept besides.
std::uint32_t addend(Direction direction, int shift) {
  const std::uint32_t half = 1U << (shift - 1);
  switch (direction) {
    case Direction::down: return 0;
    case Direction::up: return 2 * half - 1;
    case Direction::half_up: return half;
    case Direction::half_down:
    case Direction::half_even: break;
  }
  return half - 1;
}

bool gives_nan(Overflow overflow) { return overflow == Overflow::nan || overflow == Overflow::nan_unrounded; }
bool gives_inf(Overflow overflow) { return overflow == Overflow::inf || overflow == Overflow::inf_unrounded || overflow == Overflow::ieee; }
bool is_unrounded(Overflow overflow) { return overflow == Overflow::nan_unrounded || overflow == Overflow::inf_unrounded; }

std::uint32_t low_bits(int count) { return (1U << count) - 1U; }

/// fp32 bits of 2^exponent, for a normal result.
std::uint32_t power_bits(int exponent) { return static_cast<std::uint32_t>(exponent + kF32.bias) << kF32MantissaBits; }

BySign largest_codes(const Format& to) {
  const std::uint32_t top = max_finite_code(to);
  if (to.encoding == Encoding::fixed_point) return {{top, (0U - top) & low_bits(to.width)}};
  return {{top, top | (to.has_sign ? 1U << (to.width - 1) : 0U)}};
}

/// What IEEE 754's overflow is in a format without Inf, or without NaN as well.
Overflow above_range(const Format& to, Overflow overflow) {
  if (overflow != Overflow::ieee || has_inf(to)) return overflow;
  return has_nan(to) ? Overflow::nan : Overflow::saturate;
}

BySign infinity_codes(const Format& to, Overflow overflow) {
  const std::uint32_t above = max_finite_code(to) + 1U;
  const std::uint32_t sign = to.has_sign ? 1U << (to.width - 1) : 0U;
  if (gives_inf(overflow)) return {{above, above | sign}};
  if (!gives_nan(overflow)) return largest_codes(to);
  if (nan_is_negative_zero(to)) return {{sign, sign}};
  if (to.specials == Specials::inf_top) return {{above + 1U, above + 1U}};
  const std::uint32_t quiet = has_inf(to) ? 1U << (to.mantissa_bits - 1) : 0U;
  return {{above | quiet, above | quiet | sign}};
}

/// As infinity_codes, but IEEE 754 overflows to the largest value where the magnitude is rounded down.
BySign overflow_codes(const Format& to, Overflow overflow, const RoundingRow& row) {
  BySign codes = infinity_codes(to, above_range(to, overflow));
  for (std::size_t sign : {0U, 1U}) {
    if (overflow == Overflow::ieee && row.directions[sign] == Direction::down) codes.of[sign] = largest_codes(to).of[sign];
  }
  return codes;
}

/// The last magnitude that rounds to the largest value, which has these fp32 bits: all up to the next grid point but what the addend carries there.
std::uint32_t last_in_range(const Format& to, Overflow overflow, Direction direction, int dropped) {
  const std::uint32_t top = max_finite_code(to);
  const std::uint32_t top_bits = to_f32(top, to);
  if (is_unrounded(overflow)) return top_bits;
  const std::uint32_t tie_to_next = direction == Direction::half_even ? top & 1U : 0U;
  return top_bits + low_bits(dropped) - addend(direction, dropped) - tie_to_next;
}

SpecialCodes special_codes(const Format& to, const Conversion& how, const RoundingRow& row, int dropped) {
  SpecialCodes special{};
  for (std::size_t sign : {0U, 1U}) special.last_in_range.of[sign] = last_in_range(to, how.overflow, row.directions[sign], dropped);
  special.overflow = overflow_codes(to, how.overflow, row);
  special.infinity = infinity_codes(to, above_range(to, how.overflow));
  special.nan = {{how.nan_positive, how.nan_negative}};
  const bool flushes = how.flush == Flush::source || how.flush == Flush::both;
  special.source_from = flushes ? kF32MinNormal : 0U;
  if (how.nan_rule == NanRule::fixed) return special;
  special.nan = infinity_codes(to, Overflow::inf);
  special.payload_shift = kF32MantissaBits - static_cast<std::uint32_t>(to.mantissa_bits);
  special.payload_mask = low_bits(to.mantissa_bits);
  if (how.nan_rule == NanRule::keep_payload) {
    special.empty_payload = 1;
  } else {
    for (std::uint32_t& code : special.nan.of) code |= 1U << (to.mantissa_bits - 1);
  }
  return special;
}

Plan floating_plan(const Format& to, const Conversion& how, const RoundingRow& row) {
  if (only_powers(how.rounding)) return {};
  const bool fixed = to.encoding == Encoding::fixed_point;
  // A fixed-point format is all subnormal: min_normal lies above its range.
  const int min_exponent = fixed ? to.width - to.mantissa_bits : 1 - to.bias;
  const int unit_exponent = fixed ? -to.mantissa_bits : min_exponent - to.mantissa_bits;
  // A format with fp32's own exponents needs no grid of its own: its subnormals are fp32's, and the shift rounds them.
  const bool same_exponents = to.bias == kF32.bias && !fixed;
  const int shift = static_cast<int>(kF32MantissaBits) - to.mantissa_bits;
  FloatingPlan plan{};
  plan.shift = static_cast<std::uint32_t>(shift);
  plan.rebias = static_cast<std::uint32_t>(kF32.bias - to.bias) << to.mantissa_bits;
  plan.min_normal = same_exponents ? 0U : power_bits(min_exponent);
  plan.scale = same_exponents ? 0U : power_bits(static_cast<int>(kFinePlaces) - unit_exponent);
  for (std::size_t sign : {0U, 1U}) {
    plan.addend.of[sign] = addend(row.directions[sign], shift);
    plan.fine_addend.of[sign] = addend(row.directions[sign], static_cast<int>(kFinePlaces));
  }
  plan.even = how.rounding == Rounding::nearest_even ? 1U : 0U;
  const bool flushes = (how.flush == Flush::target || how.flush == Flush::both) && !fixed;
  plan.result_from = flushes ? 1U << to.mantissa_bits : 0U;
  plan.sign_bit = to.has_sign ? 1U << (to.width - 1) : 0U;
  plan.code_mask = low_bits(to.width);
  plan.twos_complement = fixed;
  plan.one_zero = nan_is_negative_zero(to);
  plan.negative_is_nan = !to.has_sign && how.negative_is_nan;
  plan.negative_code = infinity_codes(to, Overflow::nan).of[0];
  const int top_exponent = static_cast<int>(to_f32(max_finite_code(to), to) >> kF32MantissaBits) - kF32.bias;
  plan.special = special_codes(to, how, row, fixed ? shift - top_exponent : shift);
  if (plan.negative_is_nan) plan.special.overflow.of[1] = plan.special.infinity.of[1] = plan.negative_code;
  return plan;
}

Plan power_plan(const Format& to, const Conversion& how, RoundingRow row) {
  // One digit is always odd: a tie to even goes up.
  for (Direction& direction : row.directions) direction = direction == Direction::half_even ? Direction::half_up : direction;
  PowerPlan plan{};
  for (std::size_t sign : {0U, 1U}) {
    plan.addend.of[sign] = addend(row.directions[sign], kF32MantissaBits);
    // The subnormals from 2^-127 = 0x400000 on lie in one interval of 22 bits.
    const Direction lowest = row.has_lowest_midpoint ? row.directions[sign] : Direction::up;
    plan.subnormal_from.of[sign] = kF32MinNormal - addend(lowest, kF32MantissaBits - 1);
  }
  plan.zero_code = how.zero_code;
  plan.negative_is_nan = how.negative_is_nan;
  plan.negative_code = max_finite_code(to) + 1U;
  plan.special = special_codes(to, how, row, kF32MantissaBits);
  return plan;
}

/// Whether the grid's powers of two are normal fp32 numbers: named formats are within it, one of a user's need not be. Powers alone are E8M0's.
bool is_in_reach(const Format& to) {
  if (to.encoding == Encoding::exponent_only) return to.bias == kE8m0.bias && to.width == kE8m0.width;
  constexpr int kMostBias = 64;
  return to.mantissa_bits > 0 && (to.bias == kF32.bias || (to.bias >= -kMostBias && to.bias <= kMostBias));
}

}  // namespace

Plan plan_for(const Format& to, const Conversion& how) {
  const auto row = std::ranges::find(kRoundings, how.rounding, &RoundingRow::rounding);
  const bool lacks = (gives_nan(how.overflow) && !has_nan(to)) || (gives_inf(above_range(to, how.overflow)) && !has_inf(to));
  const bool lacks_payload = how.nan_rule == NanRule::refused || (how.nan_rule != NanRule::fixed && !has_inf(to));
  if (row == kRoundings.end() || how.before != Preparation{} || changes_codes(how.fine) || !is_in_reach(to) || how.random_bits != 0 ||
      how.overflow == Overflow::wrap || to.width > 16 || lacks || lacks_payload)
    return {};
  return to.encoding == Encoding::exponent_only ? power_plan(to, how, *row) : floating_plan(to, how, *row);
}

}  // namespace mx::kernels::sweep
