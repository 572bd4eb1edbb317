#include "model/numerics/block.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/fault.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::array<BlockFormat, 6> kBlockFormats{{
    {"mxfp8_e4m3", &kE4m3fn, &kE8m0, 32, "MX 1.0 section 5.2, table 1"},
    {"mxfp8_e5m2", &kE5m2, &kE8m0, 32, "MX 1.0 section 5.2, table 1"},
    {"mxfp6_e2m3", &kE2m3, &kE8m0, 32, "MX 1.0 section 5.2, table 1"},
    {"mxfp6_e3m2", &kE3m2, &kE8m0, 32, "MX 1.0 section 5.2, table 1"},
    {"mxfp4", &kE2m1, &kE8m0, 32, "MX 1.0 section 5.2, table 1"},
    {"mxint8", &kMxint8, &kE8m0, 32, "MX 1.0 section 5.2, table 1"},
}};

constexpr std::array<rows::Word<ScaleRule>, 1> kScaleRules{{
    {ScaleRule::floor, "floor"},
}};

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kF32Infinity = 0x7F800000U;
constexpr std::uint32_t kScaleNan = 0xFFU;
constexpr int kLargestScale = 254;

/// NaN and Inf compare above every number, as their bits do.
std::uint32_t largest_magnitude(std::span<const std::uint32_t> f32) {
  std::uint32_t amax = 0;
  for (std::uint32_t bits : f32) amax = std::max(amax, bits & kMagnitude);
  return amax;
}

/// The exact product of an element and a scale. NaN wins, 0 * Inf is NaN.
Value product(const Value& element, const Value& scale) {
  const bool negative = element.negative != scale.negative;
  const auto either = [&](ValueClass cls) { return element.cls == cls || scale.cls == cls; };
  const auto special = [&](ValueClass cls) { return Value{.significand = 0, .exponent = 0, .cls = cls, .negative = negative}; };
  if (either(ValueClass::nan) || (either(ValueClass::infinity) && either(ValueClass::zero))) {
    return {.significand = 0, .exponent = 0, .cls = ValueClass::nan};
  }
  if (either(ValueClass::infinity)) return special(ValueClass::infinity);
  if (either(ValueClass::zero)) return special(ValueClass::zero);
  return {.significand = element.significand * scale.significand,
          .exponent = element.exponent + scale.exponent,
          .cls = ValueClass::finite,
          .negative = negative};
}

}  // namespace

std::span<const BlockFormat> all_block_formats() { return kBlockFormats; }

const BlockFormat& block_format_named(std::string_view name) { return rows::named(kBlockFormats, "block format", name); }

std::string_view name_of(ScaleRule rule) { return rows::word_of<ScaleRule>(kScaleRules, rule); }

ScaleRule scale_rule_named(std::string_view name) { return rows::named(kScaleRules, "scale rule", name).value; }

std::uint32_t scale_code(std::uint32_t amax_f32, const Format& element, ScaleRule rule) {
  const std::uint32_t amax = amax_f32 & kMagnitude;
  if (amax >= kF32Infinity) return kScaleNan;
  // The exponent field is floor(log2 amax) + 127; E8M0 has the same bias.
  int exponent = static_cast<int>(amax >> kF32.mantissa_bits);
  if (planted(Fault::scale_floor_off_by_one)) exponent = static_cast<int>((amax + 1U) >> kF32.mantissa_bits);
  switch (rule) {
    case ScaleRule::floor: break;
  }
  return static_cast<std::uint32_t>(std::clamp(exponent - max_exponent(element), 0, kLargestScale));
}

QuantizedBlock quantize_block(std::span<const std::uint32_t> f32, const BlockFormat& format, ScaleRule rule, const Conversion& how) {
  if (f32.empty() || f32.size() > static_cast<std::size_t>(format.block)) {
    throw Error(ErrorCode::usage,
                "a block of " + std::to_string(f32.size()) + " elements: " + std::string(format.name) + " has 1 to " + std::to_string(format.block));
  }
  QuantizedBlock block;
  block.scale = scale_code(largest_magnitude(f32), *format.element, rule);
  const Value scale = decode(*format.scale, block.scale);
  block.codes.reserve(f32.size());
  for (std::uint32_t bits : f32) {
    Value element = decode(kF32, bits);
    if (scale.cls == ValueClass::nan) element = {.significand = 0, .exponent = 0, .cls = ValueClass::nan};
    // Dividing by a power of two moves the exponent and loses nothing.
    if (element.cls == ValueClass::finite) element.exponent -= scale.exponent;
    Flags flags;
    block.codes.push_back(encode(element, *format.element, how, flags));
  }
  return block;
}

Value scaled_value(std::uint32_t code, std::uint32_t scale, const BlockFormat& format) {
  Value factor = decode(*format.scale, scale);
  if (planted(Fault::block_ignores_nan_scale) && factor.cls == ValueClass::nan) factor = decode(*format.scale, scale - 1U);
  return product(decode(*format.element, code), factor);
}

std::uint32_t dequantize(std::uint32_t code, std::uint32_t scale, const BlockFormat& format) {
  const Value value = scaled_value(code, scale, format);
  return value.cls == ValueClass::nan ? f32::kNan : to_f32(value);
}

}  // namespace mx
