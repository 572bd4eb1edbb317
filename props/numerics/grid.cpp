#include "props/numerics/grid.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <stdexcept>

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kLargestF32 = 0x7F7FFFFFU;

/// What the documents say of a format, typed in again: OFP8 1.0 table 1, MX 1.0 table 1.
struct Facts {
  const Format* format;
  int mantissa_bits;
  int bias;
  std::uint32_t max_code;
};

constexpr Facts kFacts[] = {
    {&kE4m3fn, 3, 7, 0x7E}, {&kE5m2, 2, 15, 0x7B},  {&kE4m3fnuz, 3, 8, 0x7F}, {&kE5m2fnuz, 2, 16, 0x7F},
    {&kE2m3, 3, 1, 0x1F},   {&kE3m2, 2, 3, 0x1F},   {&kE2m1, 1, 1, 0x7},      {&kE8m0, 0, 127, 0xFE},
    {&kUe4m3, 3, 7, 0x7E}, {&kUe5m3, 3, 15, 0xFE},  {&kMxint8, 6, 0, 0x7F}, {&kBf16, 7, 127, 0x7F7F}, {&kFp16, 10, 15, 0x7BFF},
};

std::uint32_t value_bits(const Facts& facts, std::uint32_t code) {
  if (facts.format == &kE8m0) return f32_bits(1, static_cast<int>(code) - facts.bias);
  if (facts.format == &kMxint8) return f32_bits(code, -facts.mantissa_bits);
  const std::uint32_t radix = 1U << facts.mantissa_bits;
  const std::uint32_t field = code / radix;
  const std::uint32_t mantissa = code % radix;
  if (field == 0) return f32_bits(mantissa, 1 - facts.bias - facts.mantissa_bits);
  return f32_bits(radix + mantissa, static_cast<int>(field) - facts.bias - facts.mantissa_bits);
}

/// Two neighbours have all fp32 patterns between them in one binade, where patterns are linear; only zero and its neighbour do not.
std::uint32_t midpoint(std::uint32_t low, std::uint32_t high) {
  constexpr std::uint32_t kHalving = 1U << 23;
  if (low == 0 && high > kHalving) return high - kHalving;
  return low + (high - low) / 2;
}

Grid make_grid(const Facts& facts) {
  Grid grid{facts.format, {}, {}};
  for (std::uint32_t code = 0; code <= facts.max_code; ++code) grid.values.push_back(value_bits(facts, code));
  for (std::size_t i = 0; i + 1 < grid.values.size(); ++i) grid.midpoints.push_back(midpoint(grid.values[i], grid.values[i + 1]));
  const std::uint32_t top = grid.values.back();
  const std::uint32_t step = (top & ~0x7FFFFFU) == (grid.values[facts.max_code - 1] & ~0x7FFFFFU) ? top - grid.values[facts.max_code - 1] : 1U << 23;
  grid.midpoints.push_back(top + step / 2);
  return grid;
}

bool goes_up(const Grid& grid, std::size_t down, std::uint32_t magnitude, bool negative, Rounding rounding) {
  const std::uint32_t middle = grid.midpoints[down];
  const bool tie = magnitude == middle;
  switch (rounding) {
    // E8M0 has one digit of precision: there a tie to even goes up.
    case Rounding::nearest_even: return magnitude > middle || (tie && (down % 2 == 1 || grid.format == &kE8m0));
    case Rounding::nearest_away: return magnitude >= middle;
    case Rounding::nearest_toward_zero: return magnitude > middle;
    case Rounding::toward_zero: return false;
    case Rounding::toward_positive: return !negative;
    case Rounding::toward_negative: return negative;
    case Rounding::to_odd: return down % 2 == 0;
    case Rounding::away:
    case Rounding::magnitude_up: return true;
    case Rounding::nearest_up: return magnitude >= middle || down == 0;
    default: break;
  }
  throw std::logic_error("rounding");
}

}  // namespace

std::uint32_t f32_bits(std::uint64_t significand, int exponent) {
  if (significand == 0) return 0;
  const int top = exponent + static_cast<int>(std::bit_width(significand)) - 1;
  const int unit = std::max(top, -126) - 23;
  const int shift = exponent - unit;
  const std::uint64_t units = shift >= 0 ? significand << shift : significand >> -shift;
  // The hidden bit of a normal number counts into its exponent field.
  return static_cast<std::uint32_t>(units) + (static_cast<std::uint32_t>(std::max(top, -126) + 126) << 23);
}

const std::vector<Grid>& all_grids() {
  static const std::vector<Grid> kGrids = [] {
    std::vector<Grid> grids;
    for (const Facts& facts : kFacts) grids.push_back(make_grid(facts));
    return grids;
  }();
  return kGrids;
}

const Grid& grid_of(std::string_view format_name) {
  for (const Grid& grid : all_grids()) {
    if (grid.format->name == format_name) return grid;
  }
  throw std::logic_error("no grid of " + std::string(format_name));
}

std::uint32_t signed_code(const Grid& grid, std::uint32_t magnitude_code, bool negative) {
  if (!negative || grid.format == &kE8m0 || grid.format == &kUe4m3 || grid.format == &kUe5m3) return magnitude_code;
  if (grid.format == &kMxint8) return (256U - magnitude_code) % 256U;
  const bool one_zero = grid.format == &kE4m3fnuz || grid.format == &kE5m2fnuz;
  if (magnitude_code == 0 && one_zero) return 0;
  return magnitude_code + (1U << (grid.format->width - 1));
}

bool is_value(const Grid& grid, std::uint32_t magnitude) { return std::binary_search(grid.values.begin(), grid.values.end(), magnitude); }

std::uint32_t rounded_code(const Grid& grid, std::uint32_t f32, Rounding rounding) {
  const std::uint32_t magnitude = f32 & ~kSign;
  const auto above = std::upper_bound(grid.values.begin(), grid.values.end(), magnitude);
  if (above == grid.values.begin()) return 0;
  const auto code = static_cast<std::size_t>(above - grid.values.begin()) - 1;
  if (grid.values[code] == magnitude) return static_cast<std::uint32_t>(code);
  // The next point, if the grid went on, lies as far above the last midpoint as the largest value below it.
  const bool beyond = above == grid.values.end() && magnitude - grid.values.back() >= 2 * (grid.midpoints.back() - grid.values.back());
  const bool up = beyond || goes_up(grid, code, magnitude, f32 >= kSign, rounding);
  return static_cast<std::uint32_t>(code) + (up ? 1U : 0U);
}

std::uint32_t searched_code(const Grid& grid, std::uint32_t f32, Rounding rounding) {
  const std::uint32_t code = rounded_code(grid, f32, rounding);
  const auto top = static_cast<std::uint32_t>(grid.values.size()) - 1U;
  return signed_code(grid, std::min(code, top), f32 >= kSign);
}

std::vector<Rounding> roundings_of(const Grid& grid) {
  std::vector<Rounding> roundings{Rounding::nearest_even,
                                  Rounding::nearest_away,
                                  Rounding::nearest_toward_zero,
                                  Rounding::toward_zero,
                                  Rounding::toward_positive,
                                  Rounding::toward_negative,
                                  Rounding::to_odd,
                                  Rounding::away};
  if (grid.format == &kE8m0) roundings.insert(roundings.end(), {Rounding::magnitude_up, Rounding::nearest_up});
  return roundings;
}

std::uint32_t pick_uniform(std::uint32_t low, std::uint32_t high) {
  // inRange grows with RapidCheck's size and would keep to small numbers; its upper end is exclusive.
  return static_cast<std::uint32_t>(*rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(low, static_cast<std::uint64_t>(high) + 1)));
}

std::uint32_t pick_code(int width) {
  const std::uint32_t codes = 1U << width;
  if (pick_uniform(0, 1) == 0) return pick_uniform(0, codes - 1);
  const std::uint32_t center = pick_uniform(0, 1) * (codes / 2);
  return (center + codes + pick_uniform(0, 4) - 2U) % codes;
}

namespace {

/// A code at an end of the format: around zero, the smallest normal number or the largest number.
std::uint32_t pick_end(const Grid& grid) {
  const auto top = static_cast<std::uint32_t>(grid.values.size()) - 1U;
  const std::uint32_t ends[] = {1, 1U << grid.format->mantissa_bits, top};
  return std::min(ends[pick_uniform(0, 2)] + pick_uniform(0, 2) - 1U, top);
}

}  // namespace

std::uint32_t pick_boundary(const Grid& grid) {
  const std::uint32_t kind = pick_uniform(0, 11);
  const std::uint32_t sign = pick_uniform(0, 1) * kSign;
  if (kind == 0) return sign | pick_uniform(0, kLargestF32);
  if (kind == 1) return sign | (pick_uniform(0, 254) << 23);
  const std::vector<std::uint32_t>& points = kind % 2 == 0 ? grid.midpoints : grid.values;
  const std::uint32_t code = kind < 5 ? pick_end(grid) : pick_uniform(0, static_cast<std::uint32_t>(points.size()) - 1);
  const std::uint32_t neighbour = points[code] + pick_uniform(0, 2);
  return sign | std::min(neighbour == 0 ? 0U : neighbour - 1U, kLargestF32);
}

std::uint32_t pick_any(const Grid& grid) {
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  if (pick_uniform(0, 3) != 0) return pick_boundary(grid);
  const std::uint32_t sign = pick_uniform(0, 1) * kSign;
  switch (pick_uniform(0, 3)) {
    case 0: return sign | (pick_uniform(0, 1) == 0 ? kInfinity : 0U);
    case 1: return sign | (kInfinity + pick_uniform(1, 0x7FFFFF));
    // A NaN with its payload above or below what a narrow format keeps.
    case 2: return sign | kInfinity | (1U << pick_uniform(0, 22));
    default: return sign | pick_uniform(1, 0x7FFFFF);
  }
}

std::string hex(std::uint64_t bits) {
  char text[24];
  static_cast<void>(std::snprintf(text, sizeof text, "0x%llX", static_cast<unsigned long long>(bits)));
  return text;
}

}  // namespace mx::props::numerics
