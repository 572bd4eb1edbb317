// N3: what conversions do at the ends, and the flags that say so: the rules restated over the grid of values. N7: the fast twin.

#include <rapidcheck.h>

#include <algorithm>

#include "kernels/sweep/encode.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kMinNormalF32 = 0x00800000U;

constexpr Overflow kOverflows[] = {Overflow::saturate,      Overflow::nan,           Overflow::inf,
                                   Overflow::nan_unrounded, Overflow::inf_unrounded, Overflow::ieee};
constexpr NanRule kNanRules[] = {NanRule::fixed, NanRule::keep_payload, NanRule::quiet_payload};
constexpr Flush kFlushes[] = {Flush::none, Flush::source, Flush::target, Flush::both};

/// What the documents say about a format's specials, typed in again.
struct Specials {
  const Format* format;
  std::uint32_t inf;           ///< 0: none
  std::uint32_t nan_positive;  ///< of an overflow; 0: none
  std::uint32_t nan_negative;
};

constexpr Specials kSpecials[] = {
    {&kE4m3fn, 0, 0x7F, 0xFF},
    {&kE5m2, 0x7C, 0x7E, 0xFE},
    {&kE4m3fnuz, 0, 0x80, 0x80},
    {&kE5m2fnuz, 0, 0x80, 0x80},
    {&kE2m3, 0, 0, 0},
    {&kE3m2, 0, 0, 0},
    {&kE2m1, 0, 0, 0},
    {&kE8m0, 0, 0xFF, 0xFF},
    {&kUe4m3, 0, 0x7F, 0x7F},
    {&kUe5m3, 0, 0xFF, 0xFF},
    {&kMxint8, 0, 0, 0},
    {&kBf16, 0x7F80, 0x7FC0, 0xFFC0},
    {&kFp16, 0x7C00, 0x7E00, 0xFE00},
};

const Specials& specials_of(const Grid& grid) { return *std::ranges::find(kSpecials, grid.format, &Specials::format); }

bool is_unrounded(Overflow overflow) { return overflow == Overflow::nan_unrounded || overflow == Overflow::inf_unrounded; }
bool is_nan_word(Overflow overflow) { return overflow == Overflow::nan || overflow == Overflow::nan_unrounded; }

bool can_overflow_so(Overflow overflow, const Specials& specials) {
  if (overflow == Overflow::saturate || overflow == Overflow::ieee) return true;
  return is_nan_word(overflow) ? specials.nan_positive != 0 : specials.inf != 0;
}

bool has_sign(const Grid& grid) { return grid.format != &kE8m0 && grid.format != &kUe4m3 && grid.format != &kUe5m3; }
bool has_subnormals(const Grid& grid) { return grid.format != &kE8m0 && grid.format != &kMxint8; }

/// fp32 bits of the smallest normal number.
std::uint32_t min_normal(const Grid& grid) {
  if (grid.format == &kE8m0) return grid.values[0];
  return grid.values[std::size_t{1} << grid.format->mantissa_bits];
}

struct Coded {
  std::uint32_t code;
  Flags flags;

  friend bool operator==(const Coded&, const Coded&) = default;
};

Coded expected_nan(const Grid& grid, std::uint32_t f32, const Conversion& how) {
  const Specials& specials = specials_of(grid);
  const bool negative = f32 >= kSign;
  const Flags flags{.invalid = specials.nan_positive == 0, .nan = true};
  if (how.nan_rule == NanRule::fixed) return {negative ? how.nan_negative : how.nan_positive, flags};
  const int mantissa_bits = grid.format->mantissa_bits;
  const std::uint32_t payload = (f32 & 0x7FFFFFU) >> (23 - mantissa_bits);
  const std::uint32_t quiet = 1U << (mantissa_bits - 1);
  const std::uint32_t kept = how.nan_rule == NanRule::quiet_payload ? payload | quiet : std::max(payload, 1U);
  return {(specials.inf + kept) | (negative ? 1U << (grid.format->width - 1) : 0U), flags};
}

Coded expected_overflow(const Grid& grid, bool negative, bool infinite, const Conversion& how, Flags flags) {
  const Specials& specials = specials_of(grid);
  const auto top = static_cast<std::uint32_t>(grid.values.size()) - 1U;
  const Rounding inward = negative ? Rounding::toward_positive : Rounding::toward_negative;
  const bool rounds_inward = how.rounding == Rounding::toward_zero || how.rounding == Rounding::to_odd || how.rounding == inward;
  const bool has_neither = specials.inf == 0 && specials.nan_positive == 0;
  const bool clamps = how.overflow == Overflow::saturate || (how.overflow == Overflow::ieee && ((!infinite && rounds_inward) || has_neither));
  flags.overflow = !infinite;
  flags.inexact = flags.inexact || !infinite;
  flags.invalid = infinite && specials.inf == 0;
  flags.saturated = clamps;
  if (clamps) return {signed_code(grid, top, negative), flags};
  if (is_nan_word(how.overflow) || specials.inf == 0) return {negative ? specials.nan_negative : specials.nan_positive, flags};
  return {signed_code(grid, specials.inf, negative), flags};
}

Coded expected_zero(const Grid& grid, bool negative, const Conversion& how, Flags flags) {
  if (grid.format != &kE8m0) return {signed_code(grid, 0, negative), flags};
  flags.invalid = how.zero_code == 0xFF;
  flags.inexact = flags.inexact || how.zero_code != 0xFF;
  return {how.zero_code, flags};
}

/// Without the rules of Conversion::fine.
Coded expected_plainly(const Grid& grid, std::uint32_t f32, const Conversion& how) {
  const std::uint32_t magnitude = f32 & ~kSign;
  const bool negative = f32 >= kSign;
  if (magnitude > kInfinity) return expected_nan(grid, f32, how);
  if (magnitude == 0) return expected_zero(grid, negative, how, {});
  const bool flushes_source = how.flush == Flush::source || how.flush == Flush::both;
  if (flushes_source && magnitude < kMinNormalF32) return expected_zero(grid, negative, how, {.inexact = true, .flushed = true});
  Flags flags;
  if (negative && !has_sign(grid)) {
    if (how.negative_is_nan) return {specials_of(grid).nan_positive, {.invalid = true}};
    flags.inexact = true;
  }
  const bool infinite = magnitude == kInfinity;
  const std::uint32_t top = grid.values.back();
  if (infinite || (is_unrounded(how.overflow) && magnitude > top)) return expected_overflow(grid, negative, infinite, how, flags);
  const std::uint32_t code = rounded_code(grid, f32, how.rounding);
  flags.inexact = flags.inexact || !is_value(grid, magnitude);
  if (code == grid.values.size()) return expected_overflow(grid, negative, false, how, flags);
  flags.underflow = grid.format != &kMxint8 && magnitude < min_normal(grid) && !is_value(grid, magnitude);
  const bool flushes_target = how.flush == Flush::target || how.flush == Flush::both;
  if (flushes_target && has_subnormals(grid) && code != 0 && grid.values[code] < min_normal(grid)) {
    flags.inexact = flags.underflow = flags.flushed = true;
    return {signed_code(grid, 0, negative), flags};
  }
  return {signed_code(grid, code, negative), flags};
}

Coded expected_infinity(const Grid& grid, bool negative, const Conversion& how) {
  const bool refused = negative && !has_sign(grid) && how.negative_is_nan;
  Conversion ruled = how;
  switch (how.fine.infinity) {
    case InfinityRule::as_overflow: break;
    case InfinityRule::inf: ruled.overflow = Overflow::inf; break;
    case InfinityRule::nan: ruled.overflow = Overflow::nan; break;
    case InfinityRule::as_nan:
      if (!refused)
        return {negative ? how.nan_negative : how.nan_positive, {.inexact = negative && !has_sign(grid), .invalid = specials_of(grid).inf == 0}};
      break;
    case InfinityRule::largest: ruled.overflow = Overflow::saturate; break;
    case InfinityRule::zero:
      if (!refused) return expected_zero(grid, negative && how.fine.zero_sign == SignOfZero::keep, how, {.inexact = true});
  }
  return expected_plainly(grid, kInfinity | (negative ? kSign : 0U), ruled);
}

/// A negative number where there is no sign and a rule says what it gives.
Coded expected_below_zero(const Grid& grid, std::uint32_t f32, bool is_zero, const Conversion& how) {
  const std::uint32_t magnitude = f32 & ~kSign;
  if (is_zero) return expected_plainly(grid, magnitude, how);
  const bool infinite = magnitude == kInfinity;
  if (infinite && how.fine.negative == NegativeRule::zero) {
    Coded positive = expected_infinity(grid, false, how);
    positive.flags.inexact = true;
    return positive;
  }
  const bool up = how.rounding == Rounding::toward_zero || how.rounding == Rounding::toward_positive;
  const bool becomes_zero = !infinite && grid.values[0] == 0 && rounded_code(grid, f32, how.rounding) == 0;
  const bool is_nan = how.fine.negative == NegativeRule::directed && (infinite || !(up || becomes_zero));
  return is_nan ? Coded{specials_of(grid).nan_positive, {.invalid = true}} : Coded{0, {.inexact = true}};
}

Coded expected(const Grid& grid, std::uint32_t f32, const Conversion& how) {
  if (how.fine == FineRules{}) return expected_plainly(grid, f32, how);
  const std::uint32_t magnitude = f32 & ~kSign;
  const bool negative = f32 >= kSign;
  const bool flushes_source = how.flush == Flush::source || how.flush == Flush::both;
  const bool is_zero = magnitude == 0 || (flushes_source && magnitude < kMinNormalF32);
  if (magnitude > kInfinity) return expected_nan(grid, f32, how);
  if (negative && !has_sign(grid) && how.fine.negative != NegativeRule::as_said) return expected_below_zero(grid, f32, is_zero, how);
  if (magnitude == kInfinity) return expected_infinity(grid, negative, how);
  Coded outcome = expected_plainly(grid, is_zero && how.fine.zero_sign != SignOfZero::keep ? magnitude : f32, how);
  const bool is_minus_zero = has_sign(grid) && outcome.code == signed_code(grid, 0, true) && outcome.flags.overflow == false;
  if (how.fine.zero_sign == SignOfZero::positive && is_minus_zero) outcome.code = 0;
  return outcome;
}

Coded converted(const Grid& grid, std::uint32_t f32, const Conversion& how) {
  Coded outcome{};
  outcome.code = convert(f32, kF32, *grid.format, how, outcome.flags);
  return outcome;
}

std::string words_of(const Conversion& how) {
  return std::string(name_of(how.rounding)) + ", " + std::string(name_of(how.overflow)) + ", NaN rule " +
         std::to_string(static_cast<int>(how.nan_rule)) + ", flush " + std::to_string(static_cast<int>(how.flush)) + ", infinity " +
         std::to_string(static_cast<int>(how.fine.infinity)) + ", zero " + std::to_string(static_cast<int>(how.fine.zero_sign));
}

}  // namespace

std::uint32_t restated_code(const Grid& grid, std::uint32_t f32, const Conversion& how) { return expected(grid, f32, how).code; }

std::vector<Conversion> every_conversion(const Grid& grid) {
  std::vector<Conversion> out;
  for (Rounding rounding : roundings_of(grid)) {
    for (Overflow overflow : kOverflows) {
      if (!can_overflow_so(overflow, specials_of(grid))) continue;
      for (NanRule nan_rule : kNanRules) {
        if (nan_rule != NanRule::fixed && specials_of(grid).inf == 0) continue;
        for (Flush flush : kFlushes) {
          for (bool negative_is_nan : {false, true}) {
            if (negative_is_nan && has_sign(grid)) continue;
            // Two NaN codes that no rule would give by itself: what the conversion names must come back.
            const std::uint32_t zero_code = negative_is_nan ? 0xFFU : 0x00U;
            out.push_back({rounding, overflow, nan_rule, 0x5, 0xA, zero_code, negative_is_nan, 0, flush});
          }
        }
      }
    }
  }
  return out;
}

std::vector<std::uint32_t> extreme_patterns(const Grid& grid) {
  const std::uint32_t top = grid.values.back();
  const std::uint32_t step = 2 * (grid.midpoints.back() - top);
  std::vector<std::uint32_t> patterns;
  for (std::uint32_t point : {grid.values[1], grid.midpoints[0], min_normal(grid), kMinNormalF32, grid.midpoints.back(), top, top + step}) {
    for (std::uint32_t pattern : {point - 1U, point, point + 1U}) patterns.push_back(std::min(pattern, kInfinity));
  }
  for (std::uint32_t special : {0x0U, 0x1U, 0x7F7FFFFFU, 0x7F800000U, 0x7F800001U, 0x7FA00000U, 0x7FC00000U, 0x7FFFFFFFU})
    patterns.push_back(special);
  const std::size_t positive = patterns.size();
  for (std::size_t i = 0; i < positive; ++i) patterns.push_back(patterns[i] | kSign);
  return patterns;
}

/// Rules of an infinity, of zeros and of negative numbers, each beside a rounding in every direction.
std::vector<Conversion> fine_conversions(const Grid& grid) {
  const Specials& specials = specials_of(grid);
  std::vector<FineRules> fine{{.infinity = InfinityRule::largest},
                              {.infinity = InfinityRule::as_nan},
                              {.infinity = InfinityRule::zero},
                              {.zero_sign = SignOfZero::positive},
                              {.zero_sign = SignOfZero::positive_if_zero},
                              {.infinity = InfinityRule::zero, .zero_sign = SignOfZero::positive}};
  if (specials.inf != 0) fine.push_back({.infinity = InfinityRule::inf});
  if (specials.nan_positive != 0) fine.push_back({.infinity = InfinityRule::nan});
  if (!has_sign(grid)) {
    fine.push_back({.infinity = InfinityRule::largest, .negative = NegativeRule::zero});
    fine.push_back({.negative = NegativeRule::least});
    fine.push_back({.negative = NegativeRule::directed});
  }
  std::vector<Conversion> out;
  for (const FineRules& rules : fine) {
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_negative}) {
      for (const Flush flush : {Flush::none, Flush::both}) {
        for (const Overflow overflow : {Overflow::ieee, Overflow::saturate})
          out.push_back({rounding, overflow, NanRule::fixed, 0x5, 0xA, 0, false, 0, flush, {}, rules});
      }
    }
  }
  return out;
}

/// Those that the kernels know.
std::vector<Conversion> quick_conversions(const Grid& grid) {
  std::vector<Conversion> quick = every_conversion(grid);
  std::erase_if(quick, [&](const Conversion& how) { return !kernels::has_encode(*grid.format, how); });
  return quick;
}

Outcome table_holds(const Law& law) {
  const Grid& grid = grid_of(subject_of(law));
  std::vector<Conversion> conversions = every_conversion(grid);
  for (const Conversion& how : fine_conversions(grid)) conversions.push_back(how);
  const auto property = [&] {
    for (int i = 0; i < kPatternsPerCase; ++i) {
      const std::uint32_t f32 = pick_any(grid);
      for (const Conversion& how : conversions) {
        if (converted(grid, f32, how) != expected(grid, f32, how)) RC_FAIL("f32 " + hex(f32) + ", " + words_of(how) + encode_line(f32, *grid.format));
      }
    }
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    for (std::uint32_t f32 : extreme_patterns(grid)) {
      for (const Conversion& how : conversions) {
        const Coded outcome = converted(grid, f32, how);
        exhaustive.expect(outcome == expected(grid, f32, how), [&] {
          return "f32 " + hex(f32) + " -> " + std::string(grid.format->name) + " " + hex(outcome.code) + ", " + words_of(how);
        });
      }
    }
  };
  return run_both(law, property, all_cases);
}

Outcome twin_equals_model(const Law& law) {
  const Grid& grid = grid_of(subject_of(law));
  const Format& to = *grid.format;
  const std::vector<Conversion> conversions = quick_conversions(grid);
  const auto differs = [&](const std::vector<std::uint32_t>& inputs, const Conversion& how) {
    std::vector<std::uint32_t> codes(inputs.size());
    kernels::encode(inputs, to, how, codes);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (codes[i] != convert(inputs[i], kF32, to, how)) return hex(inputs[i]) + " -> " + hex(codes[i]) + ", " + words_of(how);
    }
    return std::string();
  };
  const auto property = [&] {
    // Lengths around those of vector registers: a tail must not differ from the body.
    std::vector<std::uint32_t> inputs(pick_uniform(1, 40));
    for (std::uint32_t& f32 : inputs) f32 = pick_any(grid);
    const Conversion& how = conversions[pick_uniform(0, static_cast<std::uint32_t>(conversions.size()) - 1)];
    const std::string difference = differs(inputs, how);
    RC_LOG(difference);
    RC_ASSERT(difference.empty());
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    const std::vector<std::uint32_t> inputs = extreme_patterns(grid);
    for (const Conversion& how : conversions) {
      const std::string difference = differs(inputs, how);
      exhaustive.expect(difference.empty(), [&] { return std::string(to.name) + " " + difference; });
    }
  };
  return run_both(law, property, all_cases);
}

}  // namespace mx::props::numerics
