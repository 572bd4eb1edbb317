#pragma once
// The tables of words of block rules, one for each family of rules. For block_rule_words.cpp.

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <type_traits>
#include <utility>

#include "model/names.hpp"
#include "model/numerics/block_rule_words.hpp"

namespace mx::rules {

using Text = std::string_view;

/// Words of an enumeration, in its order. The first is not always the usual one.
template <typename Enum>
struct Names;
template <>
struct Names<bool> {
  static constexpr std::array<Text, 2> kWords{"no", "yes"};
};
template <>
struct Names<AmaxQuotient> {
  static constexpr std::array<Text, 3> kWords{"exponent-field", "division", "reciprocal"};
};
template <>
struct Names<SubnormalBump> {
  static constexpr std::array<Text, 2> kWords{"any", "above-smallest-scale"};
};
template <>
struct Names<AmaxNan> {
  static constexpr std::array<Text, 2> kWords{"propagates", "ignored"};
};
template <>
struct Names<BelowBytes> {
  static constexpr std::array<Text, 3> kWords{"clamped", "wraps", "wraps-alone"};
};
template <>
struct Names<ElementOperation> {
  static constexpr std::array<Text, 4> kWords{"exact", "multiply", "divide", "divide-full"};
};
template <>
struct Names<NanSign> {
  static constexpr std::array<Text, 3> kWords{"positive", "element-first", "factor-first"};
};
template <>
struct Names<ZeroSign> {
  static constexpr std::array<Text, 4> kWords{"kept", "lost-before-rounding", "lost", "negative-before-rounding"};
};
template <>
struct Names<Nvfp4Multiplier> {
  static constexpr std::array<Text, 8> kWords{"reciprocal-of-product", "reciprocal-over-scale", "reciprocal-of-scale", "divided-by-quotient",
                                              "divided-by-product",    "scaled-then-divided",   "divided-then-scaled", "divided-by-wanted"};
};
template <>
struct Names<Fp8Scaling> {
  static constexpr std::array<Text, 2> kWords{"divide", "reciprocal"};
};
template <>
struct Names<FactorStep> {
  static constexpr std::array<Text, 4> kWords{"reciprocal", "quotient", "reciprocal-of-product", "none"};
};

/// At least two digits: codes of scales have two, fp32 bits eight.
inline std::string hex(std::uint32_t bits) {
  constexpr Text kDigits = "0123456789abcdef";
  std::string text;
  for (int i = bits > 0xFF ? 7 : 1; i >= 0; --i) text += kDigits[bits >> (4 * i) & 0xFU];
  return text;
}

/// Hexadecimal digits, with or without 0x. Throws as refuse.
inline std::uint32_t bits_in(Text text, Text key, Text value) {
  std::uint32_t bits = 0;
  const Text digits = value.starts_with("0x") ? value.substr(2) : value;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    refuse(text, std::string(key) + "=" + printable(value) + ": hexadecimal digits of up to 32 bits");
  return bits;
}

// How a value of each type is read, printed, and what it can be.

template <typename Enum>
  requires(std::is_enum_v<Enum> || std::is_same_v<Enum, bool>)
void read_value(Enum& value, Text text, Text key, Text word) {
  const auto& words = Names<Enum>::kWords;
  const auto found = std::ranges::find_if(words, [&](Text known) { return same_name(known, word); });
  if (found == words.end()) refuse_word(text, key, word, words);
  value = static_cast<Enum>(found - words.begin());
}
inline void read_value(std::uint32_t& value, Text text, Text key, Text word) { value = bits_in(text, key, word); }
inline void read_value(std::optional<std::uint32_t>& value, Text text, Text key, Text word) { value = bits_in(text, key, word); }
inline void read_value(std::optional<int>& value, Text text, Text key, Text word) { value = number_in(text, key, word, 0, kF32.mantissa_bits); }
inline void read_value(Sources& value, Text text, Text key, Text word) {
  value = {};
  const std::array<std::pair<Text, bool*>, 3> types{{{kF32.name, &value.f32}, {kBf16.name, &value.bf16}, {kFp16.name, &value.fp16}}};
  while (!word.empty()) {
    const Text said = word.substr(0, word.find('+'));
    const auto type = std::ranges::find(types, said, &std::pair<Text, bool*>::first);
    if (type == types.end()) refuse(text, std::string(key) + "=" + printable(word) + ": f32, bf16, fp16 with + between them");
    *type->second = true;
    word.remove_prefix(std::min(said.size() + 1, word.size()));
  }
}

/// The word of an enumerator.
template <typename Enum>
  requires(std::is_enum_v<Enum> || std::is_same_v<Enum, bool>)
std::string value_text(Enum value) {
  return std::string(Names<Enum>::kWords[static_cast<std::size_t>(value)]);
}
inline std::string value_text(std::uint32_t value) { return hex(value); }
inline std::string value_text(const std::optional<std::uint32_t>& value) { return value ? hex(*value) : std::string(); }
inline std::string value_text(const std::optional<int>& value) { return value ? std::to_string(*value) : std::string(); }
/// "f32+bf16".
inline std::string value_text(const Sources& value) {
  std::string text;
  for (const auto& [taken, name] : {std::pair{value.f32, "+f32"}, std::pair{value.bf16, "+bf16"}, std::pair{value.fp16, "+fp16"}}) {
    if (taken) text += name;
  }
  return text.substr(text.empty() ? 0 : 1);
}

template <typename Value>
std::string values_of() {
  if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, bool>) {
    std::string text;
    for (const Text word : Names<Value>::kWords) text += (text.empty() ? "" : ", ") + std::string(word);
    return text;
  } else if constexpr (std::is_same_v<Value, Sources>) {
    return "f32+bf16+fp16";
  } else if constexpr (std::is_same_v<Value, std::optional<int>>) {
    return "0 to 23";
  } else {
    return "hexadecimal: a code, or fp32 bits";
  }
}

enum class Said { where_unusual, always };

/// A word of one family.
template <typename Family>
struct BlockField {
  Text key;
  Text meaning;
  Said said;
  void (*read)(Family& how, Text text, Text key, Text value);
  std::string (*print)(const Family& how);
  std::string (*values)();
};

/// The word of the member that `Get` gives.
template <typename Family, auto Get>
constexpr BlockField<Family> field(Text key, Text meaning, Said said = Said::where_unusual) {
  return {key,
          meaning,
          said,
          [](Family& how, Text text, Text name, Text value) { read_value(Get(how), text, name, value); },
          [](const Family& how) { return value_text(Get(how)); },
          [] { return values_of<std::remove_cvref_t<decltype(Get(std::declval<Family&>()))>>(); }};
}

/// The same for a bound, or what stands in for a largest magnitude.
template <typename Family, auto Get>
constexpr BlockField<Family> magnitude(Text key, Text meaning) {
  return {key,
          meaning,
          Said::where_unusual,
          [](Family& how, Text text, Text name, Text value) { Get(how) = magnitude_in(text, name, value); },
          [](const Family& how) { return value_text(Get(how)); },
          [] { return std::string("hexadecimal: fp32 bits without sign"); }};
}

#define MXACT_MEMBER(path) [](auto& how) -> auto& { return how.path; }
#define MXACT_FIELD(Family, path) field<Family, MXACT_MEMBER(path)>
#define MXACT_MAGNITUDE(Family, path) magnitude<Family, MXACT_MEMBER(path)>

/// Of scales that are powers of two.
constexpr std::array kMxScale{
    MXACT_FIELD(MxRecipe, scale.quotient)("quotient", "how amax meets its divisor"),
    MXACT_FIELD(MxRecipe, scale.bump)("bump", "subnormal quotients that give byte 1 instead of 0"),
    MXACT_FIELD(MxRecipe, scale.amax_nan)("amax-nan", "what a NaN does to the largest magnitude"),
    MXACT_FIELD(MxRecipe, scale.flush_subnormals)("amax-flush", "a subnormal amax or quotient is zero"),
    MXACT_MAGNITUDE(MxRecipe, scale.zero_amax)("zero-amax", "what stands in for an amax of 0"),
    MXACT_MAGNITUDE(MxRecipe, scale.least_amax)("least-amax", "lower bound of amax"),
    MXACT_FIELD(MxRecipe, scale.nan_code)("nan-scale", "scale where amax is NaN"),
    MXACT_FIELD(MxRecipe, scale.infinite_code)("infinite-scale", "scale where amax is Inf"),
    MXACT_FIELD(MxRecipe, scale.overflow_code)("overflow-scale", "scale where the power of two is above 2^127"),
    MXACT_FIELD(MxRecipe, scale.zero_code)("zero-scale", "scale where amax is 0"),
    MXACT_FIELD(MxRecipe, scale.mantissa_bits)("amax-bits", "mantissa bits that even keeps of amax"),
    MXACT_FIELD(MxRecipe, scale.in_source_type)("scale-in-source", "quotient and logarithm are rounded to the source's type"),
    MXACT_FIELD(MxRecipe, scale.below)("below", "powers of two below that of byte 0"),
    MXACT_FIELD(MxRecipe, scale.lost_code)("lost-scale", "scale where the source's type holds the power of two as 0"),
    MXACT_FIELD(MxRecipe, scale.lost_power)("lost-power", "what stands for a power of two that is 0"),
    MXACT_FIELD(MxRecipe, sources)("sources", "types of elements that are taken")};

/// How one element becomes a code, in two families.
#define MXACT_STEP_FIELDS(Family, step, operation_said)                                                                     \
  MXACT_FIELD(Family, step.operation)                                                                                       \
  ("operation", "how an element meets the factor", operation_said),                                                         \
      MXACT_FIELD(Family, step.nan_sign)("nan-sign", "the sign of a NaN that the operation makes"),                         \
      MXACT_FIELD(Family, step.zero_sign)("zero-sign", "zeros that lose their sign"),                                       \
      MXACT_FIELD(Family, step.flush_subnormals)("flush", "subnormal elements and quotients are zeros"),                    \
      MXACT_FIELD(Family, step.half_is_added)("half-is-added", "rounding is floor(q + 0.5) in fp32"),                       \
      MXACT_FIELD(Family, step.unit_by_log2)("unit-by-log2", "truncation to the unit of a binade that log2 in fp32 finds"), \
      MXACT_FIELD(Family, step.in_source_type)("in-source", "the operation's result is rounded to the source's type")

/// Of their elements.
constexpr std::array kMxElements{
    MXACT_STEP_FIELDS(MxRecipe, elements->step, Said::where_unusual),
    MXACT_FIELD(MxRecipe, elements->factor.in_source_type)("factor-in-source", "the factor is rounded to the source's type"),
    MXACT_FIELD(MxRecipe, elements->factor.at_0)("factor-at-0", "factor of scale byte 0"),
    MXACT_FIELD(MxRecipe, elements->factor.at_254)("factor-at-254", "factor of scale byte 254"),
    MXACT_FIELD(MxRecipe, elements->factor.at_255)("factor-at-255", "factor of scale byte 255"),
    MXACT_FIELD(MxRecipe, elements->factor.at_nan_amax)("factor-at-nan", "factor where amax is NaN"),
    MXACT_FIELD(MxRecipe, elements->factor.at_infinite_amax)("factor-at-infinity", "factor where amax is Inf"),
    MXACT_FIELD(MxRecipe, elements->nan_block_code)("nan-block", "code of every element of a block with scale 255"),
    MXACT_FIELD(MxRecipe, elements->finite_products)("finite-products", "codes whose product with the scale is not finite are not chosen")};

/// Of groups.
constexpr std::array kGroup{
    MXACT_FIELD(GroupRecipe, divides)("divides", "s = amax / the largest number; no: times its reciprocal", Said::always),
    MXACT_FIELD(GroupRecipe, amax_nan)("amax-nan", "what a NaN does to the largest magnitude"),
    MXACT_MAGNITUDE(GroupRecipe, amax_floor)("least-amax", "lower bound of amax"),
    MXACT_MAGNITUDE(GroupRecipe, least_scale)("least-scale", "lower bound of the scale"),
    MXACT_FIELD(GroupRecipe, scale_in_fp16)("scale-in-fp16", "the stored scale is rounded to fp16, elements meet it unrounded"),
    MXACT_STEP_FIELDS(GroupRecipe, step, Said::always),
    MXACT_FIELD(GroupRecipe, sources)("sources", "types of elements that are taken")};

/// Of rules of NVFP4.
constexpr std::array kNvfp4{MXACT_FIELD(Nvfp4Recipe, multiplier)("multiplier", "what elements meet", Said::always),
                            MXACT_FIELD(Nvfp4Recipe, amax_ignores_nan)("amax-ignores-nan", "a NaN does not count for the largest magnitude"),
                            MXACT_MAGNITUDE(Nvfp4Recipe, least_scale)("least-scale", "lower bound of what becomes the scale"),
                            MXACT_FIELD(Nvfp4Recipe, multiplier_of_zero)("factor-of-zero", "the factor where its divisor is 0"),
                            MXACT_MAGNITUDE(Nvfp4Recipe, largest_multiplier)("largest-factor", "a cap on the factor"),
                            MXACT_FIELD(Nvfp4Recipe, zero_block_multiplies_by_zero)("zero-block", "a block of zeros has factor 0"),
                            MXACT_FIELD(Nvfp4Recipe, approximate_reciprocal)("approximate-reciprocal", "1/g is the device's, and is given"),
                            MXACT_FIELD(Nvfp4Recipe, flush_subnormals)("flush", "subnormal operands and results are zeros"),
                            MXACT_FIELD(Nvfp4Recipe, drops_zero_sign)("drops-zero-sign", "a product of -0 becomes +0"),
                            MXACT_FIELD(Nvfp4Recipe, in_source_type)("in-source", "quotients are rounded to the source's type"),
                            MXACT_FIELD(Nvfp4Recipe, encode_may_be_missing)("encode-may-be-missing", "without g it is 1"),
                            MXACT_MAGNITUDE(Nvfp4Recipe, zero_wanted)("zero-quotient", "what stands in for a 0 that would become the scale"),
                            MXACT_FIELD(Nvfp4Recipe, zero_scale_code)("zero-scale", "the scale in place of 0"),
                            MXACT_FIELD(Nvfp4Recipe, zero_scale_value)("zero-scale-value", "what a scale of 0 stands for"),
                            MXACT_MAGNITUDE(Nvfp4Recipe, least_sixth)("least-sixth", "lower bound of amax / 6"),
                            MXACT_FIELD(Nvfp4Recipe, sources)("sources", "types of elements that are taken")};

/// Of scales of a tensor, row, group or square.
constexpr std::array kFp8{MXACT_FIELD(Fp8Recipe, scaling)("operation", "how an element meets the scale", Said::always),
                          MXACT_FIELD(Fp8Recipe, amax_ignores_nan)("amax-ignores-nan", "a NaN does not count for the largest magnitude"),
                          MXACT_FIELD(Fp8Recipe, takes_amax_bound)("takes-amax-bound", "amax has an upper bound where one is given"),
                          MXACT_MAGNITUDE(Fp8Recipe, least_amax)("least-amax", "lower bound of amax"),
                          MXACT_MAGNITUDE(Fp8Recipe, least_scale)("least-scale", "lower bound of the scale"),
                          MXACT_FIELD(Fp8Recipe, at_source_width)("scale-in-source", "every step is rounded to the source's type"),
                          MXACT_FIELD(Fp8Recipe, invalid_nan_is_negative)("invalid-nan-is-negative", "0/0 and Inf/Inf give a NaN with its sign set"),
                          MXACT_FIELD(Fp8Recipe, zero_scale_is_epsilon)("zero-scale-is-epsilon", "a scale of 0 becomes the source type's epsilon"),
                          MXACT_FIELD(Fp8Recipe, drops_zero_sign)("drops-zero-sign", "a quotient of -0 becomes +0"),
                          MXACT_MAGNITUDE(Fp8Recipe, largest_factor)("largest-factor", "a cap on the factor"),
                          MXACT_FIELD(Fp8Recipe, factor_is_power)("factor-is-power", "the factor is a power of two"),
                          MXACT_FIELD(Fp8Recipe, returns_factor)("returns-factor", "the scale that comes out is the factor"),
                          MXACT_FIELD(Fp8Recipe, quotients_at_source_width)("in-source", "quotients are rounded to the source's type"),
                          MXACT_FIELD(Fp8Recipe, unit_factor_at_zero)("unit-factor-at-zero", "the factor is 1 where amax is 0 or NaN"),
                          MXACT_FIELD(Fp8Recipe, reciprocal_first)("reciprocal-first", "the factor is the largest number times 1 / amax"),
                          MXACT_FIELD(Fp8Recipe, scale_is_power)("scale-is-power", "the scale is a power of two"),
                          MXACT_FIELD(Fp8Recipe, sources)("sources", "types of elements that are taken")};

/// Of steps that no family has.
constexpr std::array kSteps{
    MXACT_FIELD(BlockComposition, factor)("factor", "what elements are multiplied by; none: the nearest code is searched", Said::always),
    MXACT_FIELD(BlockComposition, factor_of_zero)("factor-of-zero", "the factor where the scale is 0"),
    MXACT_MAGNITUDE(BlockComposition, largest_factor)("largest-factor", "a cap on the factor"),
    MXACT_FIELD(BlockComposition, factor_in_bf16)("factor-in-bf16", "the factor is rounded to bf16"),
    MXACT_FIELD(BlockComposition, takes_encode)("takes-encode", "the tensor's encode scale g is given"),
    MXACT_FIELD(BlockComposition, tensor_amax)("tensor-amax", "the tensor's largest magnitude, of which g is made"),
    MXACT_MAGNITUDE(BlockComposition, largest_scale)("largest-scale", "g = 6 times this over the tensor's largest magnitude"),
    MXACT_FIELD(BlockComposition, error.squared)("error-squared", "candidates by the sum of squares; no: of magnitudes"),
    MXACT_FIELD(BlockComposition, error.scaled_fp16)("error-scaled-fp16", "code times scale in fp16 against x * g; no: against x"),
    MXACT_FIELD(BlockComposition, sources)("sources", "types of elements that are taken")};

#undef MXACT_STEP_FIELDS
#undef MXACT_FIELD
#undef MXACT_MAGNITUDE
#undef MXACT_MEMBER

}  // namespace mx::rules
