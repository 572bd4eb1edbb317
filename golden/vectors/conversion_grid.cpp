// The target's grid as a tester sees it: where a value lies, what rounding does there, and which inputs reach every such place.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "golden/vectors/conversion_op.hpp"
#include "golden/vectors/depth.hpp"
#include "support/random.hpp"

namespace mx::golden {
namespace {

constexpr std::array<std::string_view, 4> kOutcomes{"normal", "subnormal", "carry", "overflow"};

int top_exponent(const Value& value) { return value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1; }

int least_exponent(const Format& format) { return format.encoding == Encoding::exponent_only ? -format.bias : 1 - format.bias; }

Value number(std::uint64_t significand, int exponent, bool negative = false) {
  return {.significand = significand, .exponent = exponent, .cls = significand == 0 ? ValueClass::zero : ValueClass::finite, .negative = negative};
}

/// Codes of positive finite values at which a rounding is tried: all of a narrow format, else those near the ends of exponents and of mantissas.
std::vector<std::uint32_t> floor_codes(const Format& to) {
  const std::uint32_t last = max_finite_code(to);
  std::vector<std::uint32_t> codes;
  if (to.width <= 8) {
    for (std::uint32_t code = 0; code <= last; ++code) codes.push_back(code);
    return codes;
  }
  const std::uint32_t mantissas = 1U << to.mantissa_bits;
  const std::uint32_t exponents = (last >> to.mantissa_bits) + 1U;
  const std::uint32_t middle = static_cast<std::uint32_t>(to.bias);
  for (std::uint32_t exponent : {0U, 1U, 2U, 3U, middle - 1U, middle, middle + 1U, exponents - 2U, exponents - 1U}) {
    for (std::uint32_t mantissa : {0U, 1U, 2U, 3U, mantissas / 2U - 1U, mantissas / 2U, mantissas - 2U, mantissas - 1U}) {
      codes.push_back((exponent << to.mantissa_bits) | mantissa);
    }
  }
  return codes;
}

/// A code's value in units of the grid above it.
struct Floor {
  std::uint64_t units;
  int unit;  ///< exponent of the unit
};
Floor floor_of(std::uint32_t code, const Format& to) {
  const Value floor = decode(to, code);
  const int unit = to.encoding == Encoding::fixed_point ? -to.mantissa_bits
                   : floor.cls == ValueClass::zero      ? least_exponent(to) - to.mantissa_bits
                                                        : std::max(top_exponent(floor), least_exponent(to)) - to.mantissa_bits;
  return {floor.cls == ValueClass::zero ? 0 : floor.significand << (floor.exponent - unit), unit};
}

/// Values at that code plus each of the eight parts of a unit, as codes of the source that has them.
void add_around(std::uint32_t floor_code, const Format& from, const Format& to, std::vector<std::uint32_t>& codes) {
  const auto [units, unit] = floor_of(floor_code, to);
  constexpr int kFinest = 30;
  for (bool negative : {false, true}) {
    for (std::uint64_t below = 0; below < 8; ++below) {
      // The lowest of the three stands for anything below a quarter: the coarsest such value that the source has.
      for (int places = 3; places <= kFinest; ++places) {
        const std::uint64_t part = (below >> 1U << (places - 2)) | (below & 1U);
        const std::optional<std::uint32_t> code = exact_code(number((units << places) | part, unit - places, negative), from);
        if (!code) continue;
        codes.push_back(*code);
        break;
      }
    }
  }
}

constexpr Conversion kCutOff{Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};

/// A source as a tester steps through it: its codes in the order of their magnitudes.
class SourceCodes {
 public:
  SourceCodes(const Format& from, bool both_signs) : from_(&from), both_signs_(both_signs && from.has_sign) {}

  /// The source's code of a positive number, or the one below it and false; none beyond the source.
  std::optional<std::pair<std::uint32_t, bool>> at(const Value& number) const {
    Flags flags;
    const std::uint32_t code = encode(number, *from_, kCutOff, flags);
    return flags.overflow ? std::nullopt : std::optional(std::pair(code, !flags.inexact));
  }
  /// A positive code and its negative where there is one; with `one_sign` one of both in turn.
  void add(std::uint32_t magnitude, bool one_sign) {
    if (magnitude > max_finite_code(*from_)) return;
    const bool is_negative = both_signs_ && one_sign && codes_.size() % 2 == 1;
    const std::uint32_t negative = magnitude | 1U << (from_->width - 1);
    codes_.push_back(is_negative ? negative : magnitude);
    if (both_signs_ && !one_sign) codes_.push_back(negative);
  }
  /// The number's code and its neighbours, or the codes on both sides of the number.
  void add_near(const Value& number, bool one_sign) {
    const auto found = at(number);
    if (!found) return;
    const auto [code, is_exact] = *found;
    if (is_exact && code > 0) add(code - 1U, one_sign);
    add(code, one_sign);
    add(code + 1U, one_sign);
  }
  /// The number and one bit of each place below its last one, added and taken away.
  void add_depths(const Value& number) {
    const auto found = at(number);
    if (!found || !found->second || found->first == 0) return;
    const int places = std::min(std::countr_zero(found->first), from_->mantissa_bits);
    add(found->first, false);
    for (int bit = 0; bit < places; ++bit) {
      add(found->first - (1U << bit), false);
      add(found->first + (1U << bit), false);
    }
  }
  std::vector<std::uint32_t> taken() && { return std::move(codes_); }

 private:
  const Format* from_;
  bool both_signs_;
  std::vector<std::uint32_t> codes_;
};

/// Codes above which decisions are looked at from nearby: all of a narrow format, of a wide one the first, the last and a drawn one of each binade.
std::vector<std::uint32_t> decision_codes(const Format& to) {
  const std::uint32_t last = max_finite_code(to);
  if (to.width <= 8) return floor_codes(to);
  std::vector<std::uint32_t> codes;
  const std::uint32_t mantissas = 1U << to.mantissa_bits;
  for (std::uint32_t first = 0; first <= last; first += mantissas) {
    const auto drawn = static_cast<std::uint32_t>(support::SplitMix64(first).next() % (mantissas - 2U));
    for (std::uint32_t mantissa : {0U, 1U + drawn, mantissas - 1U}) codes.push_back(first + mantissa);
  }
  return codes;
}

/// Four of the codes with that last bit, from the lowest to the highest.
std::vector<std::uint32_t> spread(const std::vector<std::uint32_t>& codes, std::uint32_t last_bit) {
  std::vector<std::uint32_t> fitting;
  for (std::uint32_t code : codes) {
    if ((code & 1U) == last_bit) fitting.push_back(code);
  }
  constexpr std::size_t kCount = 4;
  if (fitting.size() <= kCount) return fitting;
  std::vector<std::uint32_t> some;
  for (std::size_t i = 0; i < kCount; ++i) some.push_back(fitting[i * (fitting.size() - 1) / (kCount - 1)]);
  return some;
}

/// True where the middle between two values of the target decides; else the values themselves do.
bool decides_in_the_middle(Rounding rounding) {
  return rounding == Rounding::nearest_even || rounding == Rounding::nearest_away || rounding == Rounding::nearest_toward_zero ||
         rounding == Rounding::nearest_up;
}

/// Zeros, ends of ranges, infinities, NaNs of each kind, and one value of each binade, of the source.
void add_specials(const Format& from, std::vector<std::uint32_t>& codes) {
  const std::uint32_t last = max_finite_code(from);
  const std::uint32_t hidden = 1U << from.mantissa_bits;
  std::vector<std::uint32_t> magnitudes{0, 1, 2, hidden - 1U, hidden, hidden + 1U, last - 1U, last, last + 1U};
  if (from.specials == Specials::ieee) {
    const std::uint32_t infinity = last + 1U;
    const std::uint32_t quiet = hidden >> 1U;
    for (std::uint32_t payload : {1U, quiet - 1U, quiet, quiet + 1U, quiet | (quiet >> 1U), hidden - 1U}) {
      if (payload > 0 && payload < hidden) magnitudes.push_back(infinity + payload);
    }
  }
  if (from.encoding == Encoding::floating) {
    for (std::uint32_t field = 0; field <= last >> from.mantissa_bits; ++field) magnitudes.push_back((field << from.mantissa_bits) | (hidden / 2U));
  }
  const std::uint32_t sign = from.has_sign ? 1U << (from.width - 1) : 0U;
  const std::uint32_t codes_end = from.width == 32 ? 0xFFFFFFFFU : (1U << from.width) - 1U;
  for (std::uint32_t magnitude : magnitudes) {
    if (magnitude > (codes_end & ~sign)) continue;
    codes.push_back(magnitude);
    codes.push_back(magnitude | sign);
  }
}

/// The value half a unit above the largest finite one, where rounding to nearest begins to overflow.
Value half_above_largest(const Format& to) {
  const Value largest = decode(to, max_finite_code(to));
  const int unit = to.encoding == Encoding::fixed_point ? -to.mantissa_bits : top_exponent(largest) - to.mantissa_bits;
  return number((largest.significand << (largest.exponent - unit + 1)) | 1U, unit - 1);
}

}  // namespace

std::optional<std::uint32_t> exact_code(const Value& value, const Format& format) {
  if (value.negative && !format.has_sign) return std::nullopt;
  if (value.cls == ValueClass::zero && (format.encoding == Encoding::exponent_only || (value.negative && nan_is_negative_zero(format)) ||
                                        (value.negative && format.encoding == Encoding::fixed_point))) {
    return std::nullopt;
  }
  constexpr Conversion kCut{Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
  Flags flags;
  const std::uint32_t code = encode(value, format, kCut, flags);
  if (flags.inexact || flags.overflow) return std::nullopt;
  return code;
}

GridPlace place_on_grid(const Value& value, const Format& to) {
  const int unit = to.encoding == Encoding::fixed_point ? -to.mantissa_bits : std::max(top_exponent(value), least_exponent(to)) - to.mantissa_bits;
  const int shift = unit - value.exponent;
  // Of fixed point a large value has more units than there are bits for: as many as fit stand for all.
  if (shift <= 0) return {-shift > std::countl_zero(value.significand) ? ~std::uint64_t{0} : value.significand << -shift, unit, 0};
  if (shift > 66) return {0, unit, 1};
  const auto bit = [&](int place) { return place < 64 && ((value.significand >> place) & 1U) != 0; };
  const bool rest = shift >= 3 && (value.significand << std::max(0, 66 - shift)) != 0;
  const auto below = static_cast<std::uint8_t>((bit(shift - 1) ? 4U : 0U) | (shift >= 2 && bit(shift - 2) ? 2U : 0U) | (rest ? 1U : 0U));
  return {shift < 64 ? value.significand >> shift : 0, unit, below};
}

RoundingCell RoundingCell::at(std::size_t index) {
  return {index >= 64, static_cast<std::uint8_t>(index / 8 % 8), index / 4 % 2 == 1, static_cast<Outcome>(index % 4)};
}

std::string RoundingCell::name() const {
  return fmt::format("{} GRS={:03b} {} {}", negative ? '-' : '+', below, odd ? "odd" : "even", kOutcomes[static_cast<std::size_t>(outcome)]);
}

std::vector<Point> points_of(const Format& from, const Format& to) {
  const bool floating = to.encoding == Encoding::floating;
  const int subnormal_unit = least_exponent(to) - to.mantissa_bits;
  std::vector<std::pair<std::string, Value>> values{{"largest finite", decode(to, max_finite_code(to))},
                                                    {"half a unit above the largest", half_above_largest(to)}};
  values.emplace_back("smallest normal",
                      floating || to.encoding == Encoding::exponent_only ? number(1, least_exponent(to)) : number(1, -to.mantissa_bits));
  if (floating) {
    values.emplace_back("half of the smallest subnormal", number(1, subnormal_unit - 1));
    values.emplace_back("smallest subnormal", number(1, subnormal_unit));
    values.emplace_back("half a unit below the smallest normal", number((std::uint64_t{1} << (to.mantissa_bits + 1)) - 1U, subnormal_unit - 1));
  }
  std::vector<Point> points;
  for (const auto& [name, value] : values) {
    for (bool negative : {false, true}) {
      Value signed_value = value;
      signed_value.negative = negative;
      const std::optional<std::uint32_t> code = exact_code(signed_value, from);
      const std::string sign = negative ? "-" : "+";
      points.push_back({fmt::format("{} {}", sign, name), code});
      const bool neighbours = code && from.encoding != Encoding::fixed_point;
      const std::uint32_t magnitude = neighbours ? *code & ((from.has_sign ? 1U << (from.width - 1) : 0U) - 1U) : 0U;
      points.push_back({fmt::format("{} {}, one step less", sign, name), neighbours && magnitude > 0 ? std::optional(*code - 1U) : std::nullopt});
      const bool last = !neighbours || is_inf_code(from, *code + 1U) || is_nan_code(from, *code + 1U) ||
                        (*code + 1U) >> (from.width - 1) > *code >> (from.width - 1);
      points.push_back({fmt::format("{} {}, one step more", sign, name), last ? std::nullopt : std::optional(*code + 1U)});
    }
  }
  return points;
}

std::vector<std::uint32_t> directed_codes(const Format& from, const Format& to) {
  std::vector<std::uint32_t> codes;
  if (from.width <= 8) {
    for (std::uint32_t code = 0; code >> from.width == 0; ++code) codes.push_back(code);
    return codes;
  }
  add_specials(from, codes);
  for (std::uint32_t code : floor_codes(to)) add_around(code, from, to, codes);
  for (const Point& point : points_of(from, to)) {
    if (point.code) codes.push_back(*point.code);
  }
  std::set<std::uint32_t> seen;
  std::erase_if(codes, [&](std::uint32_t code) { return !seen.insert(code).second; });
  return codes;
}

std::vector<std::uint32_t> deciding_codes(const Format& from, const Format& to, Rounding rounding) {
  // Of a narrow source the directed set has every code.
  if (from.width <= 8 || !has_depth(from)) return {};
  const bool is_narrow = to.width <= 8;
  const bool in_the_middle = decides_in_the_middle(rounding);
  SourceCodes codes(from, to.has_sign);
  const auto value_at = [&](std::uint32_t code) {
    const auto [units, unit] = floor_of(code, to);
    return number(units, unit);
  };
  const auto middle_above = [&](std::uint32_t code) {
    const auto [units, unit] = floor_of(code, to);
    return number(2 * units + 1, unit - 1);
  };
  const std::vector<std::uint32_t> decisions = decision_codes(to);
  for (std::uint32_t code : decisions) {
    if (in_the_middle || is_narrow) codes.add_near(middle_above(code), !is_narrow);
    if (!in_the_middle || is_narrow) codes.add_near(value_at(code), !is_narrow);
  }
  for (std::uint32_t last_bit : {0U, 1U}) {
    for (std::uint32_t code : spread(decisions, last_bit)) codes.add_depths(in_the_middle ? middle_above(code) : value_at(code));
  }
  // Without a zero the first value is where what lies below ends.
  if (to.encoding == Encoding::exponent_only) codes.add_depths(value_at(0));
  // Some between the decisions, one in each quarter of a unit.
  for (std::uint32_t code : floor_codes(to)) {
    const auto [units, unit] = floor_of(code, to);
    support::SplitMix64 random(code);
    for (std::uint64_t quarter = 0; quarter < 4; ++quarter) {
      constexpr int kPlaces = 26;
      const std::uint64_t drawn = random.next() >> (64 - kPlaces + 2);
      if (const auto found = codes.at(number((units << kPlaces) + (quarter << (kPlaces - 2)) + drawn, unit - kPlaces))) codes.add(found->first, true);
    }
  }
  std::vector<std::uint32_t> all = std::move(codes).taken();
  // Each bit alone behind the leading one.
  for (int bit = 0; bit < from.mantissa_bits; ++bit) {
    const std::uint32_t code = static_cast<std::uint32_t>(from.bias) << from.mantissa_bits | 1U << bit;
    all.push_back(code);
    if (from.has_sign) all.push_back(code | 1U << (from.width - 1));
  }
  std::set<std::uint32_t> seen;
  std::erase_if(all, [&](std::uint32_t code) { return !seen.insert(code).second; });
  return all;
}

}  // namespace mx::golden
