#include "tests/numerics/oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>

namespace mx::test {
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

const std::vector<FormatFacts>& all_facts() {
  // The columns of the format table of OFP8 1.0 and MX 1.0 as published: extremes are typed in as powers of two, not computed.
  static const std::vector<FormatFacts> kFacts{
      {"e4m3fn", 8, 4, 3, 7, 0x7E, 448, 0x1p-6, 0x1p-9, false, true, true, true},
      {"e5m2", 8, 5, 2, 15, 0x7B, 57344, 0x1p-14, 0x1p-16, true, true, true, true},
      {"e4m3fnuz", 8, 4, 3, 8, 0x7F, 240, 0x1p-7, 0x1p-10, false, true, true, false},
      {"e5m2fnuz", 8, 5, 2, 16, 0x7F, 57344, 0x1p-15, 0x1p-17, false, true, true, false},
      {"e2m3", 6, 2, 3, 1, 0x1F, 7.5, 1, 0.125, false, false, true, true},
      {"e3m2", 6, 3, 2, 3, 0x1F, 28, 0.25, 0.0625, false, false, true, true},
      {"e2m1", 4, 2, 1, 1, 0x7, 6, 1, 0.5, false, false, true, true},
      {"e8m0", 8, 8, 0, 127, 0xFE, 0x1p127, 0x1p-127, 0x1p-127, false, true, false, false},
      {"ue4m3", 7, 4, 3, 7, 0x7E, 448, 0x1p-6, 0x1p-9, false, true, false, false},
      {"mxint8", 8, 0, 6, 0, 0x7F, 127.0 / 64, 0x1p-6, 0x1p-6, false, false, true, false},
      {"bf16", 16, 8, 7, 127, 0x7F7F, 0x1.FEp127, 0x1p-126, 0x1p-133, true, true, true, true},
      {"fp16", 16, 5, 10, 15, 0x7BFF, 65504, 0x1p-14, 0x1p-24, true, true, true, true},
  };
  return kFacts;
}

const FormatFacts& facts_of(const Format& format) {
  for (const FormatFacts& facts : all_facts()) {
    if (facts.name == format.name) return facts;
  }
  throw std::logic_error("no facts about " + std::string(format.name));
}

bool is_nan_by_facts(const FormatFacts& facts, std::uint32_t code) {
  if (facts.name == "e4m3fn") return code == 0x7F || code == 0xFF;
  if (facts.name == "e5m2") return (code & 0x7F) >= 0x7D;
  if (facts.name == "e4m3fnuz" || facts.name == "e5m2fnuz") return code == 0x80;
  if (facts.name == "e8m0") return code == 0xFF;
  if (facts.name == "ue4m3") return code == 0x7F;
  if (facts.name == "bf16") return (code & 0x7FFF) > 0x7F80;
  if (facts.name == "fp16") return (code & 0x7FFF) > 0x7C00;
  return false;
}

double value_of(const FormatFacts& facts, std::uint32_t code) {
  const int c = static_cast<int>(code);
  if (facts.name == "e8m0") return std::ldexp(1.0, c - 127);
  if (facts.name == "mxint8") return (c < 128 ? c : c - 256) / 64.0;
  const int sign_place = 1 << (facts.has_sign ? facts.width - 1 : facts.width);
  const double sign = c >= sign_place ? -1.0 : 1.0;
  const int magnitude = c % sign_place;
  const int radix = 1 << facts.mantissa_bits;
  const int field = magnitude / radix;
  const int mantissa = magnitude % radix;
  if (facts.has_inf && field == (1 << facts.exponent_bits) - 1) return sign * std::numeric_limits<double>::infinity();
  if (field == 0) return sign * std::ldexp(static_cast<double>(mantissa) / radix, 1 - facts.bias);
  return sign * std::ldexp(1.0 + static_cast<double>(mantissa) / radix, field - facts.bias);
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

std::uint32_t SearchEncoder::signed_code(std::uint32_t magnitude, bool negative) const {
  if (!negative || !facts_.has_sign) return magnitude;
  if (facts_.name == "mxint8") return (256U - magnitude) % 256U;
  if (magnitude == 0 && !facts_.has_negative_zero) return 0;
  return magnitude + (1U << (facts_.width - 1));
}

std::uint32_t SearchEncoder::overflowed(bool infinite, bool negative, const Conversion& how) const {
  bool clamps = how.overflow == Overflow::saturate;
  if (how.overflow == Overflow::ieee && !infinite) {
    clamps = how.rounding == Rounding::toward_zero || how.rounding == (negative ? Rounding::toward_positive : Rounding::toward_negative);
  }
  if (clamps) return signed_code(facts_.max_code, negative);
  if (!is_nan_word(how.overflow)) return signed_code(facts_.max_code + 1, negative);
  if (facts_.name == "e5m2") return negative ? 0xFE : 0x7E;
  if (facts_.name == "bf16") return negative ? 0xFFC0 : 0x7FC0;
  if (facts_.name == "fp16") return negative ? 0xFE00 : 0x7E00;
  if (facts_.name == "e8m0") return 0xFF;
  if (facts_.name == "ue4m3") return 0x7F;
  if (facts_.name == "e4m3fn") return negative ? 0xFF : 0x7F;
  return 0x80;
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
  return signed_code(static_cast<std::uint32_t>(code), negative);
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

}  // namespace mx::test
