#include "model/numerics/affine.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "model/error.hpp"
#include "model/numerics/f32.hpp"

namespace mx {
namespace {

constexpr std::uint32_t kTwo = 0x40000000U;
constexpr Conversion kNearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC00000, 0xFFC00000, 0, false};

std::uint32_t f32_of(std::int64_t whole) {
  if (whole == 0) return 0;
  return to_f32(
      Value{.significand = static_cast<std::uint64_t>(whole < 0 ? -whole : whole), .exponent = 0, .cls = ValueClass::finite, .negative = whole < 0});
}

std::uint32_t magnitude(std::uint32_t bits) { return bits & ~f32::kSign; }
std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return f32::less(a, b) ? b : a; }

/// An fp32 number as a whole one; far ones saturate at 32 bits.
std::int64_t whole(std::uint32_t bits, Rounding rounding) {
  IeeeFlags ignored;
  constexpr Integer kWord{32, 0, true};
  return static_cast<std::int32_t>(to_integer(bits, kF32, {kWord, rounding, OutOfRange::saturate}, ignored));
}

struct Range {
  std::uint32_t lo, hi;
};

Range range_of(std::span<const std::uint32_t> x, const AffineRules& rules) {
  Range range{x[0], x[0]};
  if (rules.range != AffineRange::as_is) range = {0, 0};
  for (const std::uint32_t bits : x) {
    if (f32::less(bits, range.lo)) range.lo = bits;
    if (f32::less(range.hi, bits)) range.hi = bits;
  }
  if (rules.range == AffineRange::symmetric || (rules.range == AffineRange::symmetric_if_negative && f32::less(range.lo, 0))) {
    range.hi = larger(magnitude(range.lo), range.hi);
    range.lo = range.hi ^ f32::kSign;
  }
  if (rules.zeros_span_unit && magnitude(range.lo) == 0 && magnitude(range.hi) == 0) return {f32::kOne ^ f32::kSign, f32::kOne};
  return range;
}

std::uint32_t unrounded_scale(const Range& range, const AffineRules& rules) {
  const std::int32_t least = least_code(rules), most = most_code(rules);
  const std::uint32_t codes = f32_of(most - least), farthest = larger(range.hi, range.lo ^ f32::kSign);
  switch (rules.rule) {
    case AffineScale::span: return f32::div(larger(f32::sub(range.hi, range.lo), rules.least_range), codes);
    case AffineScale::half_span: return f32::div(farthest, f32::div(codes, kTwo));
    case AffineScale::farther_side: return larger(f32::div(range.hi, f32_of(most)), f32::div(range.lo, f32_of(least)));
    case AffineScale::largest: break;
  }
  return f32::div(farthest, f32_of(most));
}

std::int64_t zero_point(const Range& range, std::uint32_t scale, const AffineRules& rules) {
  if (rules.point == AffineZero::middle) return middle_code(rules);
  const std::uint32_t quotient = scale == 0 ? 0 : f32::div(range.lo, scale);
  const std::int64_t least = rules.zero->has_sign ? -(std::int64_t{1} << (rules.zero->width - 1)) : 0;
  const std::int64_t most = least + (std::int64_t{1} << rules.zero->width) - 1;
  const std::int64_t point =
      rules.sums_in_f32 ? whole(f32::sub(f32_of(least_code(rules)), quotient), rules.round) : least_code(rules) - whole(quotient, rules.round);
  return std::clamp(point, least, most);
}

}  // namespace

std::int32_t least_code(const AffineRules& rules) { return rules.element.has_sign ? -(1 << (rules.element.width - 1)) + (rules.narrow ? 1 : 0) : 0; }
std::int32_t most_code(const AffineRules& rules) { return (1 << (rules.element.width - (rules.element.has_sign ? 1 : 0))) - 1; }
std::int32_t middle_code(const AffineRules& rules) { return rules.element.has_sign ? 0 : 1 << (rules.element.width - 1); }

AffineBlock quantize(std::span<const std::uint32_t> x, const AffineRules& rules) {
  if (x.empty() || (rules.block != 0 && x.size() != static_cast<std::size_t>(rules.block)))
    throw Error(ErrorCode::usage, "a block of " + std::to_string(x.size()) + " elements: " + text_of(rules) + " has " +
                                      (rules.block == 0 ? "one or more" : std::to_string(rules.block)));
  const auto wrong = std::ranges::find_if(x, [](std::uint32_t bits) { return magnitude(bits) >= 0x7F800000U; });
  if (wrong != x.end())
    throw Error(ErrorCode::usage, "element " + std::to_string(wrong - x.begin()) + " is " + (f32::is_nan(*wrong) ? "nan" : "infinite") +
                                      ": integers with a scale are of finite numbers");
  const Range range = range_of(x, rules);
  AffineBlock block{};
  Flags ignored;
  std::uint32_t wanted = larger(unrounded_scale(range, rules), rules.least_scale);
  if (magnitude(wanted) == 0) wanted = rules.zero_scale;
  block.scale = wanted == 0 ? 0 : convert(wanted, kF32, *rules.scale, kNearest, ignored);
  const std::uint32_t scale = to_f32(block.scale, *rules.scale);
  block.zero = zero_point(range, scale, rules);
  const std::uint32_t inverse = f32::div(f32::kOne, scale);
  const bool divides = rules.operation == AffineOperation::divide;
  const std::int64_t least = least_code(rules), most = most_code(rules);
  for (const std::uint32_t bits : x) {
    const std::uint32_t quotient = scale == 0 ? 0 : divides ? f32::div(bits, scale) : f32::mul(bits, inverse);
    const std::int64_t code =
        rules.sums_in_f32 ? whole(f32::add(quotient, f32_of(block.zero)), rules.round) : whole(quotient, rules.round) + block.zero;
    block.codes.push_back(static_cast<std::int32_t>(std::clamp(code, least, most)));
  }
  return block;
}

std::uint32_t dequantize(std::int64_t code, std::int64_t zero, std::uint32_t scale, const AffineRules& rules, const Format& target) {
  if (target != kF32 && target != *rules.scale)
    throw Error(ErrorCode::usage, "integers with a scale in " + std::string(rules.scale->name) + " become numbers of f32" +
                                      (*rules.scale == kF32 ? "" : " or " + std::string(rules.scale->name)) + ", not " + std::string(target.name));
  const std::int64_t steps = code - zero;
  const Value factor = decode(*rules.scale, scale);
  if (steps == 0 && factor.cls == ValueClass::finite) return 0;
  const Value count{.significand = static_cast<std::uint64_t>(steps < 0 ? -steps : steps),
                    .exponent = 0,
                    .cls = steps == 0 ? ValueClass::zero : ValueClass::finite,
                    .negative = steps < 0};
  const Value product = exact_product(count, factor);
  if (product.cls == ValueClass::nan) return exponent_mask(target) | 1U << (target.mantissa_bits - 1);
  if (target == kF32) return to_f32(product);
  Flags ignored;
  return encode(product, target, kNearest, ignored);
}

}  // namespace mx
