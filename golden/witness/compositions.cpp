// encode with the words of mxact-witness/2: what an Inf gives apart from a finite overflow, signs of zeros, flags of IEEE 754, more formats.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "golden/witness/numbers.hpp"
#include "golden/witness/ops.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/ieee_flags.hpp"
#include "model/numerics/rules.hpp"
#include "model/numerics/wide_source.hpp"

namespace mx::golden {

namespace {

constexpr EnumWord<InfinityRule> kInfinities[] = {
    {"inf", InfinityRule::inf}, {"nan", InfinityRule::nan}, {"max", InfinityRule::largest}, {"zero", InfinityRule::zero}};
constexpr EnumWord<SignOfZero> kZeroSigns[] = {{"positive", SignOfZero::positive}, {"positive_if_zero", SignOfZero::positive_if_zero}};
/// What a format without a sign makes of negative numbers.
enum class Negative { magnitude, nan, zero };
constexpr EnumWord<Negative> kNegatives[] = {{"abs", Negative::magnitude}, {"nan", Negative::nan}, {"zero", Negative::zero}};
constexpr EnumWord<Tininess> kTininess[] = {{"before", Tininess::before}, {"after", Tininess::after}, {"result", Tininess::result}};
constexpr EnumWord<OverflowFlag> kOverflowFlags[] = {{"ieee", OverflowFlag::ieee}, {"not_finite_result", OverflowFlag::not_finite_result}};

/// Words of the form that are another name here.
struct FormatWord {
  std::string_view word;
  const Format* format;
};
constexpr FormatWord kFurther[] = {{"e4m3", &kE4m3Ieee}, {"e3m4", &kE3m4}, {"e4m3b11fnuz", &kE4m3b11fnuz},
                                   {"tf32", &kTf32},     {"f64", &kF64},   {"f32", &kF32}};

const Format& any_format(Fields& params, std::string_view key) {
  const std::string word = params.text(key);
  if (is_rules(word)) return format_named(word);
  const auto* const row = std::ranges::find(kFurther, std::string_view(word), &FormatWord::word);
  return row != std::end(kFurther) ? *row->format : format_word(params, key);
}

template <typename Enum, std::size_t N>
void read_word(Fields& params, std::string_view key, const EnumWord<Enum> (&words)[N], Enum& value) {
  if (params.has(key)) value = row_named(words, key, params.text(key)).value;
}

struct Read {
  const Format* from;
  const Format* to;
  Conversion how;
  bool nan_stated = false;
  bool negative_stated = false;  ///< or the format has a sign
};

std::uint32_t code_word(Fields& params, std::string_view key, const Format& format) {
  const std::uint64_t code = params.hex(key, format.width > 16 ? 8 : format.width > 8 ? 4 : 2);
  if (code >> static_cast<unsigned>(format.width) != 0) throw Unmodelled(fmt::format("{} 0x{:X} is no code of {}", key, code, format.name));
  return static_cast<std::uint32_t>(code);
}

/// A NaN of the format that has no sign of its own to keep.
std::uint32_t some_nan(const Format& format) {
  if (nan_is_negative_zero(format)) return 1U << (format.width - 1);
  if (format.specials == Specials::inf_top) return magnitude_mask(format);
  return max_finite_code(format) + 1U + (format.specials == Specials::ieee ? 1U << (format.mantissa_bits - 1) : 0U);
}

/// An entry that holds NaNs equal says by that what becomes of one where the format has any.
void read_nan(const Entry& entry, Fields& params, Read& read) {
  Conversion& how = read.how;
  how.nan_rule = NanRule::fixed;
  const bool named = params.has("nan_pos") || params.has("nan_neg");
  if (named) {
    how.nan_positive = code_word(params, "nan_pos", *read.to);
    how.nan_negative = code_word(params, "nan_neg", *read.to);
  } else if (read.to->specials != Specials::none) {
    how.nan_positive = how.nan_negative = some_nan(*read.to);
  }
  read.nan_stated = named || (entry.relations.at("codes").kind == RelationKind::bits_nan_equal && read.to->specials != Specials::none);
}

Read read_composition(const Entry& entry, Fields& params) {
  Read read{&any_format(params, "source"), &any_format(params, "format"), {}};
  Conversion& how = read.how;
  if (const Profile* rules = rules_within(*read.to)) {
    how = conversion(*rules, *read.from, *read.to);
    read.nan_stated = how.nan_rule != NanRule::refused;
    read.negative_stated = true;
    params.finish();
    return read;
  }
  how.rounding = params.text("rounding") == "nearest_log2" ? Rounding::nearest_log2_away : rounding_word(params, *read.to);
  how.overflow = params.text("overflow") == "ieee" ? Overflow::ieee : overflow_word(params, *read.to);
  read_nan(entry, params, read);
  if (params.has("through")) how.before.through = &any_format(params, "through");
  if (params.has("zero")) how.zero_code = code_word(params, "zero", *read.to);
  read_word(params, "infinity", kInfinities, how.fine.infinity);
  read_word(params, "zero_sign", kZeroSigns, how.fine.zero_sign);
  Negative negative = Negative::magnitude;
  read_word(params, "negative", kNegatives, negative);
  how.negative_is_nan = negative == Negative::nan;
  if (negative == Negative::zero) how.fine.negative = NegativeRule::zero;
  read.negative_stated = read.to->has_sign || params.has("negative");
  read_word(params, "tininess", kTininess, how.fine.tininess);
  read_word(params, "overflow_flag", kOverflowFlags, how.fine.overflow_flag);
  params.finish();
  return read;
}

std::string_view dtype_of(const Format& format) {
  if (format.width <= 8) return "u8";
  if (format == kTf32) return "u32";
  return !is_rules(format.name) ? format.name : format.width <= 16 ? "u16" : "u32";
}

/// What the entry does not speak of is none of its inputs.
void require_stated(const Read& read, const Tensor& x) {
  if (read.nan_stated && read.negative_stated) return;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Value value = decode_source(*read.from, x.word(i));
    const bool is_number = value.cls == ValueClass::finite || value.cls == ValueClass::infinity;
    if (!read.nan_stated && value.cls == ValueClass::nan) throw Unmodelled("the entry does not say what becomes of " + element_text("x", x, i));
    if (!read.negative_stated && is_number && value.negative) throw Unmodelled("params has no 'negative', and " + element_text("x", x, i));
  }
}

}  // namespace

SignOfZero zero_sign_word(Fields& params) {
  SignOfZero sign = SignOfZero::keep;
  read_word(params, "zero_sign", kZeroSigns, sign);
  return sign;
}

bool is_composed(const Entry& entry) {
  const auto word = [&](std::string_view key) {
    const Json* const value = entry.params.find(key);
    return value != nullptr && value->is_string() ? value->text() : std::string();
  };
  constexpr std::string_view kRead[] = {"source", "format",   "rounding",  "overflow", "nan_pos",  "nan_neg",      "through",
                                        "zero",   "infinity", "zero_sign", "negative", "tininess", "overflow_flag"};
  for (const support::JsonMember& member : entry.params.items()) {
    if (std::ranges::find(kRead, std::string_view(member.key)) == std::end(kRead)) return false;
  }
  if (is_rules(word("format")) || is_rules(word("source"))) return true;
  for (const std::string_view key : {"infinity", "zero_sign", "tininess", "overflow_flag"}) {
    if (entry.params.find(key) != nullptr) return true;
  }
  const auto relation = entry.relations.find("codes");
  const bool says_nan = entry.params.find("nan_pos") != nullptr || entry.params.find("nan_neg") != nullptr;
  if (!says_nan && relation != entry.relations.end() && relation->second.kind == RelationKind::bits_nan_equal) return true;
  const std::string overflow = word("overflow"), format = word("format"), source = word("source");
  const auto is_further = [](const std::string& name) {
    return name != "f32" && name != "f64" && std::ranges::find(kFurther, std::string_view(name), &FormatWord::word) != std::end(kFurther);
  };
  return word("rounding") == "nearest_log2" || (overflow == "ieee" && format != "fp16" && format != "bf16") || is_further(format) ||
         is_further(source);
}

ModelOutputs evaluate_composition(const OpContext& context) {
  require_names("x", context.entry.inputs, "input", context.entry.where);
  Fields params = params_of(context.entry);
  const Read read = read_composition(context.entry, params);
  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, dtype_of(*read.from), "x", context.entry.where);
  require_stated(read, *x);
  const Dtype& dtype = dtype_named(dtype_of(*read.to));
  const auto count = static_cast<std::size_t>(x->size());
  Tensor codes{&dtype, x->shape, std::vector<std::uint8_t>(count * static_cast<std::size_t>(dtype.bytes))};
  Tensor raised{&dtype_named("u8"), x->shape, std::vector<std::uint8_t>(count)};
  for (std::int64_t i = 0; i < x->size(); ++i) {
    IeeeFlags flags;
    const std::uint64_t word = x->word(i);
    if (read.from->width < 64 && word >> static_cast<unsigned>(read.from->width) != 0)
      broken(fmt::format("x[{}] = 0x{:X} is no code of {}", i, word, read.from->name), context.entry.where);
    codes.set_word(i, convert_ieee(word, *read.from, *read.to, read.how, flags));
    raised.set_word(i, flag_bits(flags));
  }
  const auto origin = [x](std::int64_t i) { return element_text("x", *x, i); };
  ModelOutputs outputs;
  outputs.emplace("codes", ModelOutput{std::move(codes), read.to, false, origin});
  outputs.emplace("flags", ModelOutput{std::move(raised), nullptr, false, origin});
  return outputs;
}

}  // namespace mx::golden
