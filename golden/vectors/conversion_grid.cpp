// The target's grid as a tester sees it: where a value lies, what rounding does there, and which inputs reach every such place.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "golden/vectors/conversion_op.hpp"

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

/// Values at that code plus each of the eight parts of a unit, as codes of the source that has them.
void add_around(std::uint32_t floor_code, const Format& from, const Format& to, std::vector<std::uint32_t>& codes) {
  Value floor = decode(to, floor_code);
  const int unit = to.encoding == Encoding::fixed_point ? -to.mantissa_bits
                   : floor.cls == ValueClass::zero      ? least_exponent(to) - to.mantissa_bits
                                                        : std::max(top_exponent(floor), least_exponent(to)) - to.mantissa_bits;
  const std::uint64_t units = floor.cls == ValueClass::zero ? 0 : floor.significand << (floor.exponent - unit);
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
  if (value.cls == ValueClass::zero &&
      (format.encoding == Encoding::exponent_only || (value.negative && format.specials == Specials::nan_negative_zero) ||
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

}  // namespace mx::golden
