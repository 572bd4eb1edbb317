#include "golden/witness/dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

/// What a row says, by the keys of an entry. Where two words mean the same, both are listed.
using Said = std::multimap<std::string, Json, std::less<>>;

Json byte(std::uint32_t code) { return fmt::format("0x{:02X}", code); }
Json bits(std::uint32_t f32) { return fmt::format("0x{:08X}", f32); }

void say_zero_sign(Said& said, ZeroSign zeros) {
  switch (zeros) {
    case ZeroSign::kept: return;
    case ZeroSign::lost_before_rounding: said.emplace("zero_sign", "positive_if_zero"); return;
    case ZeroSign::lost: said.emplace("zero_sign", "positive"); return;
    case ZeroSign::negative_before_rounding: said.emplace("zero_sign", "negative_if_zero"); return;
  }
}

/// fp32 bits of what elements meet at a byte.
std::uint32_t factor_at(std::uint32_t byte, const MxElements& elements) {
  const ScaleFactor& factor = elements.factor;
  const auto own = byte == 0 ? factor.at_0 : byte == 0xFE ? factor.at_254 : factor.at_255;
  if (own) return *own;
  if (byte == 0xFF) return f32::kNan;
  const int exponent = static_cast<int>(byte) - kE8m0.bias;
  const bool divides = elements.step.operation == ElementOperation::divide;
  return to_f32(Value{.significand = 1, .exponent = divides ? exponent : -exponent, .cls = ValueClass::finite, .negative = false});
}

Said words_of(const MxRecipe& how, const BlockFormat& format, const Format&) {
  const MxScale& scale = how.scale;
  Said said;
  said.emplace("nan_scale", byte(scale.nan_code));
  said.emplace("infinite_scale", byte(scale.infinite_code));
  if (static_cast<int>(scale.infinite_code) == 255 - max_exponent(*format.element)) said.emplace("infinite_scale", "as_exponent_255");
  said.emplace("scale_overflow", byte(scale.infinite_code));
  said.emplace("zero_scale", *format.scale == kF32 ? bits(scale.lost_power) : byte(scale.zero_code));
  said.emplace("scale_mantissa_bits", scale.mantissa_bits.value_or(format.element->mantissa_bits));
  said.emplace("quotient_in_source_type", scale.in_source_type);
  said.emplace("scale_wraps", scale.below != BelowBytes::clamped);
  said.emplace("zero_amax", bits(scale.zero_amax));
  if (!how.elements) return said;
  const ElementStep& step = how.elements->step;
  said.emplace("scale_in_source_type", how.elements->factor.in_source_type);
  said.emplace("quotients_in_source_type", step.in_source_type);
  said.emplace("factor", step.operation == ElementOperation::divide ? "divisor_power" : "reciprocal_power");
  for (const std::uint32_t code : {0x00U, 0xFEU, 0xFFU}) said.emplace(fmt::format("factor_at_{}", code), bits(factor_at(code, *how.elements)));
  said.emplace("nan_pos", byte(step.encode.nan_positive));
  said.emplace("nan_neg", byte(step.encode.nan_negative));
  say_zero_sign(said, step.zero_sign);
  return said;
}

Said words_of(const GroupRecipe& how, const BlockFormat&, const Format&) {
  Said said;
  said.emplace("amax_floor", bits(how.amax_floor));
  said.emplace("least_scale", bits(how.least_scale));
  if (how.scale_in_fp16) said.emplace("scale_through", "fp16");
  said.emplace("nan_pos", byte(how.step.encode.nan_positive));
  said.emplace("nan_neg", byte(how.step.encode.nan_negative));
  return said;
}

Said words_of(const BlockComposition&, const BlockFormat&, const Format&) { return {}; }

Said words_of(const Nvfp4Recipe& how, const BlockFormat&, const Format&) {
  constexpr std::uint32_t kLargest = 0x7F7FFFFFU;
  Said said;
  said.emplace("zero_scale", byte(how.zero_scale_code));
  said.emplace("zero_quotient", bits(how.zero_wanted));
  said.emplace("least_scale", bits(how.least_scale));
  said.emplace("zero_scale_divisor", bits(how.zero_scale_value));
  if (how.multiplier_of_zero == 0) said.emplace("zero_scale_factor", "zero");
  if (how.multiplier_of_zero == kLargest) said.emplace("zero_scale_factor", "float_max");
  said.emplace("quotients_in_source_type", how.in_source_type);
  if (how.drops_zero_sign) say_zero_sign(said, ZeroSign::lost_before_rounding);
  return said;
}

Said words_of(const Fp8Recipe& how, const BlockFormat& format, const Format& source) {
  const std::uint32_t largest = to_f32(max_finite_code(*format.element), *format.element);
  Said said;
  said.emplace("scale_in_source_type", how.at_source_width);
  said.emplace("quotients_in_source_type", how.at_source_width || how.quotients_at_source_width);
  if (how.unit_factor_at_zero) said.emplace("zero_scale", bits(f32::kOne));
  if (how.zero_scale_is_epsilon) {
    said.emplace("zero_scale",
                 bits(to_f32(Value{.significand = 1, .exponent = -source.mantissa_bits, .cls = ValueClass::finite, .negative = false})));
  }
  if (!f32::is_nan(how.largest_factor)) said.emplace("amax_floor", bits(f32::div(largest, how.largest_factor)));
  if (how.drops_zero_sign) say_zero_sign(said, ZeroSign::lost_before_rounding);
  said.emplace("nan_pos", byte(how.element.nan_positive));
  said.emplace("nan_neg", byte(how.element.nan_negative));
  return said;
}

Said words_of(const Dequantizer& row) {
  Said said;
  if (row.reading == ScaleReading::power) said.emplace("scale_nan", row.arithmetic == nullptr ? "finite" : "infinite");
  said.emplace("product_in_target", row.arithmetic != nullptr && *row.arithmetic == *row.target);
  if (row.drops_zero_sign) said.emplace("negative_zero", "positive");
  return said;
}

/// Every key that these words belong to.
constexpr std::string_view kKeys[] = {"nan_scale",
                                      "infinite_scale",
                                      "zero_scale",
                                      "scale_overflow",
                                      "scale_mantissa_bits",
                                      "scale_in_source_type",
                                      "scale_wraps",
                                      "quotient_in_source_type",
                                      "zero_amax",
                                      "quotients_in_source_type",
                                      "factor",
                                      "factor_at_0",
                                      "zero_sign",
                                      "factor_at_254",
                                      "factor_at_255",
                                      "nan_pos",
                                      "nan_neg",
                                      "zero_quotient",
                                      "least_scale",
                                      "zero_scale_divisor",
                                      "zero_scale_factor",
                                      "amax_floor",
                                      "scale_through",
                                      "scale_nan",
                                      "product_in_target",
                                      "negative_zero"};

void require(const Said& said, Fields& params) {
  for (const std::string_view key : kKeys) {
    const Json* word = params.find(key);
    if (word == nullptr) continue;
    const auto [first, last] = said.equal_range(key);
    if (first == last) throw Unmodelled(fmt::format("'{}' is nothing that the model of this profile knows", key));
    if (std::any_of(first, last, [&](const auto& own) { return own.second == *word; })) continue;
    throw Unmodelled(fmt::format("'{}' is {}: the model of this profile has {}", key, shown(*word), shown(first->second)));
  }
}

}  // namespace

void require_dialect(const Recipe& recipe, const Format& source, Fields& params) {
  require(std::visit([&](const auto& how) { return words_of(how, *recipe.format, source); }, recipe.how), params);
}

void require_dialect(const Dequantizer& row, Fields& params) { require(words_of(row), params); }

}  // namespace mx::golden
