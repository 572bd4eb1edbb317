#include "model/numerics/mx_recipe.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "model/fault.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

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

}  // namespace

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

QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const MxRecipe& how,
                        const TensorScale& /*tensor*/) {
  std::vector<std::uint32_t> f32;
  for (std::uint32_t bits : x) f32.push_back(to_f32(bits, source));
  QuantizedBlock block;
  block.scale = scale_code(largest_magnitude(f32), *format.element, how.rule);
  const Value scale = decode(*format.scale, block.scale);
  block.codes.reserve(f32.size());
  for (std::uint32_t bits : f32) {
    Value element = decode(kF32, bits);
    if (scale.cls == ValueClass::nan) element = {.significand = 0, .exponent = 0, .cls = ValueClass::nan};
    // Dividing by a power of two moves the exponent and loses nothing.
    if (element.cls == ValueClass::finite) element.exponent -= scale.exponent;
    Flags flags;
    block.codes.push_back(encode(element, *format.element, how.element, flags));
  }
  return block;
}

}  // namespace mx
