#include "tests/numerics/search_encoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace mx::tests {
namespace {

constexpr std::array kRoundings{Rounding::nearest_even, Rounding::nearest_away,    Rounding::nearest_toward_zero,
                                Rounding::toward_zero,  Rounding::toward_positive, Rounding::toward_negative};
constexpr std::array kPowerRoundings{Rounding::magnitude_up, Rounding::nearest_up};
constexpr std::array kOverflows{Overflow::saturate, Overflow::nan, Overflow::inf, Overflow::nan_unrounded, Overflow::inf_unrounded, Overflow::ieee};

bool is_nan_word(Overflow overflow) { return overflow == Overflow::nan || overflow == Overflow::nan_unrounded; }
bool is_unrounded(Overflow overflow) { return overflow == Overflow::nan_unrounded || overflow == Overflow::inf_unrounded; }

bool is_allowed(Overflow overflow, const FormatFacts& facts) {
  if (overflow == Overflow::saturate) return true;
  return is_nan_word(overflow) ? facts.has_nan : facts.has_inf;
}

}  // namespace

const FormatFacts& facts_of(const Format& format) {
  for (const FormatFacts& facts : all_facts()) {
    if (facts.name == format.name) return facts;
  }
  throw std::logic_error("no facts about " + std::string(format.name));
}

SearchEncoder::SearchEncoder(const FormatFacts& facts) : facts_(facts) {
  for (std::uint32_t code = 0; code <= facts.max_code; ++code) values_.push_back(value_of(facts, code));
  const double top = values_.back();
  const double below = values_[values_.size() - 2];
  // The grid goes on: by the same step within the binade, E8M0 by the factor 2.
  values_.push_back(facts.name == "e8m0" ? top * 2 : top + (top - below));
}

std::size_t SearchEncoder::rounded(double magnitude, bool negative, Rounding rounding) const {
  const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
  const auto up = static_cast<std::size_t>(above - values_.begin());
  if (above == values_.end() || *above == magnitude || up == 0) return up;
  const std::size_t down = up - 1;
  const double middle = (values_[down] + values_[up]) / 2;
  const bool tie = magnitude == middle;
  const std::size_t nearest = magnitude < middle ? down : up;
  switch (rounding) {
    case Rounding::nearest_even:
      if (tie && facts_.name == "e8m0") return up;
      return tie ? (down % 2 == 0 ? down : up) : nearest;
    case Rounding::nearest_away: return tie ? up : nearest;
    case Rounding::nearest_toward_zero: return tie ? down : nearest;
    case Rounding::toward_zero: return down;
    case Rounding::toward_positive: return negative ? down : up;
    case Rounding::toward_negative: return negative ? up : down;
    case Rounding::magnitude_up: return up;
    case Rounding::nearest_up: return tie || down == 0 ? up : nearest;
    default: break;
  }
  throw std::logic_error("rounding");
}

std::uint32_t SearchEncoder::overflowed(bool infinite, bool negative, const Conversion& how) const {
  bool clamps = how.overflow == Overflow::saturate;
  if (how.overflow == Overflow::ieee && !infinite) {
    clamps = how.rounding == Rounding::toward_zero || how.rounding == (negative ? Rounding::toward_positive : Rounding::toward_negative);
  }
  if (clamps) return signed_code(facts_, facts_.max_code, negative);
  if (!is_nan_word(how.overflow)) return signed_code(facts_, facts_.max_code + 1, negative);
  return overflow_nan_by_facts(facts_, negative);
}

std::uint32_t SearchEncoder::encode(double x, const Conversion& how) const {
  const bool negative = std::signbit(x);
  const double magnitude = std::fabs(x);
  if (std::isnan(x)) return negative ? how.nan_negative : how.nan_positive;
  if (facts_.name == "e8m0" && magnitude == 0) return how.zero_code;
  if (negative && magnitude != 0 && how.negative_is_nan && !facts_.has_sign) return facts_.max_code + 1;
  if (std::isinf(x)) return overflowed(true, negative, how);
  if (is_unrounded(how.overflow) && magnitude > facts_.max_value) return overflowed(false, negative, how);
  const std::size_t code = rounded(magnitude, negative, how.rounding);
  if (code > facts_.max_code) return overflowed(false, negative, how);
  return signed_code(facts_, static_cast<std::uint32_t>(code), negative);
}

double f32_value(std::uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); }

std::vector<std::uint32_t> boundary_patterns(const FormatFacts& facts) {
  std::vector<double> points{0.0, facts.max_value * 2, facts.max_value * 1.0625, 0x1p-149, 0x1p-127, 0x1.8p-127, 0x1p-126, 0x1.FFFFFEp127, 1.0};
  double previous = 0;
  for (std::uint32_t code = 0; code <= facts.max_code; ++code) {
    const double value = value_of(facts, code);
    points.push_back(value);
    points.push_back((previous + value) / 2);
    previous = value;
  }
  points.push_back(facts.name == "e8m0" ? facts.max_value * 1.5 : facts.max_value * 1.5 - value_of(facts, facts.max_code - 1) / 2);
  std::vector<std::uint32_t> patterns;
  for (double point : points) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::min(point, 0x1.FFFFFEp127)));
    for (std::uint32_t neighbour : {bits - 1U, bits, bits + 1U}) {
      patterns.push_back(neighbour & 0x7FFFFFFFU);
      patterns.push_back(neighbour | 0x80000000U);
    }
  }
  for (std::uint32_t special : {0x7F800000U, 0x7F800001U, 0x7FA00000U, 0x7FC00000U, 0x7FFFFFFFU}) {
    patterns.push_back(special);
    patterns.push_back(special | 0x80000000U);
  }
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  return patterns;
}

std::vector<Conversion> all_conversions(const FormatFacts& facts) {
  const bool powers = facts.name == "e8m0";
  std::vector<Rounding> roundings(kRoundings.begin(), kRoundings.end());
  if (powers) roundings.insert(roundings.end(), kPowerRoundings.begin(), kPowerRoundings.end());
  std::vector<Conversion> out;
  for (Rounding rounding : roundings) {
    for (Overflow overflow : kOverflows) {
      if (!is_allowed(overflow, facts)) continue;
      for (bool negative_is_nan : {false, true}) {
        if (negative_is_nan && facts.has_sign) continue;
        // The NaN codes are arbitrary and differ from each other: whatever the caller names must come back.
        out.push_back({rounding, overflow, NanRule::fixed, 0x5, 0xA, negative_is_nan ? 0xFFU : 0x00U, negative_is_nan});
      }
    }
  }
  return out;
}

std::string hex(std::uint64_t bits) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llX", static_cast<unsigned long long>(bits));
  return text;
}

std::string text_of(const Conversion& how) { return std::string(name_of(how.rounding)) + "/" + std::string(name_of(how.overflow)); }

}  // namespace mx::tests
