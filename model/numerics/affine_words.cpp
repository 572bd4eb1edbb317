// Integers with a scale and a zero point as text: what each word says, and the rules that have names.

#include <algorithm>
#include <array>
#include <charconv>

#include "model/numerics/affine.hpp"
#include "model/numerics/rows.hpp"
#include "model/numerics/rule_words.hpp"

namespace mx {
namespace {

using rules::refuse;
using Text = std::string_view;

constexpr int kMostElements = 1 << 20;
constexpr int kMostWidth = 8;
constexpr int kMostZeroWidth = 32;

constexpr Text kTorchao = "torchao 0.18.0 quantization/quant_primitives.py choose_qparams_affine, quantize_affine; recorded, of fp32";
constexpr Text kCompressed = "compressed-tensors 0.20.1 calculate_qparams, quantize, strategy group; recorded, of fp32";
constexpr Text kAwq = "llm-awq 02c1dd6 awq/quantize/quantizer.py pseudo_quantize_tensor, zero_point=True; read, of fp32";
constexpr Text kGptq = "AutoGPTQ 3ef391f auto_gptq/quantization/quantizer.py find_params, quantize; read, of fp32";

constexpr std::array kNamed{
    AffineRow{"torchao-int4",
              "block=128,element=i4,zero=none,scale=f32,range=symmetric,rule=half-span,round=rne,operation=multiply,zero-point=middle,"
              "least-scale=34000000",
              kTorchao},
    AffineRow{"torchao-int4-no-clipping",
              "block=128,element=i4,zero=none,scale=f32,range=with-zero,rule=farther-side,round=rne,operation=multiply,zero-point=middle,"
              "least-scale=34000000",
              kTorchao},
    AffineRow{"torchao-uint4", "block=128,element=u4,zero=u4,scale=f32,range=with-zero,rule=span,round=rne,operation=multiply,least-scale=34000000",
              kTorchao},
    AffineRow{
        "compressed-tensors-int4",
        "block=128,element=i4,zero=none,scale=f32,range=symmetric,rule=half-span,round=rne,operation=divide,zero-point=middle,zero-scale=34000000",
        kCompressed},
    AffineRow{"compressed-tensors-int4-asym",
              "block=128,element=i4,zero=i4,scale=f32,range=with-zero,rule=span,round=rne,operation=divide,sums-in-f32=yes,zero-scale=34000000",
              kCompressed},
    AffineRow{"awq", "block=128,element=u4,zero=u4,scale=f32,range=as-is,rule=span,round=rne,operation=divide,least-range=3727c5ac", kAwq},
    AffineRow{"gptq", "block=128,element=u4,zero=u4,scale=f32,range=with-zero,rule=span,round=rne,operation=divide,zeros-span-unit=yes", kGptq},
    AffineRow{"gptq-sym",
              "block=128,element=u4,zero=none,scale=f32,range=symmetric-if-negative,rule=span,round=rne,operation=divide,zero-point=middle,zeros-"
              "span-unit=yes",
              kGptq},
};

template <typename Enum>
using Words = std::span<const rows::Word<Enum>>;

constexpr std::array kRanges{rows::Word<AffineRange>{AffineRange::symmetric, "symmetric"},
                             rows::Word<AffineRange>{AffineRange::symmetric_if_negative, "symmetric-if-negative"},
                             rows::Word<AffineRange>{AffineRange::with_zero, "with-zero"}, rows::Word<AffineRange>{AffineRange::as_is, "as-is"}};
constexpr std::array kScales{rows::Word<AffineScale>{AffineScale::span, "span"}, rows::Word<AffineScale>{AffineScale::half_span, "half-span"},
                             rows::Word<AffineScale>{AffineScale::farther_side, "farther-side"},
                             rows::Word<AffineScale>{AffineScale::largest, "largest"}};
constexpr std::array kOperations{rows::Word<AffineOperation>{AffineOperation::divide, "divide"},
                                 rows::Word<AffineOperation>{AffineOperation::multiply, "multiply"}};
constexpr std::array kPoints{rows::Word<AffineZero>{AffineZero::rounded, "rounded"}, rows::Word<AffineZero>{AffineZero::middle, "middle"}};
constexpr std::array kAnswers{rows::Word<bool>{false, "no"}, rows::Word<bool>{true, "yes"}};
constexpr std::array kFormats{rows::Word<const Format*>{&kF32, "f32"}, rows::Word<const Format*>{&kBf16, "bf16"},
                              rows::Word<const Format*>{&kFp16, "fp16"}};

template <typename Enum>
Enum value_in(Words<Enum> words, Text text, Text key, Text word) {
  const auto row = std::ranges::find_if(words, [&](const rows::Word<Enum>& one) { return same_name(one.name, word); });
  if (row != words.end()) return row->value;
  std::vector<Text> known;
  for (const auto& one : words) known.push_back(one.name);
  rules::refuse_word(text, key, word, known);
}

template <typename Enum>
std::string text_in(Words<Enum> words, Enum value) {
  return std::string(std::ranges::find(words, value, &rows::Word<Enum>::value)->name);
}

template <typename Enum>
std::string values_of(Words<Enum> words) {
  std::string text;
  for (const auto& one : words) text += (text.empty() ? "" : ", ") + std::string(one.name);
  return text;
}

std::string hex_text(std::uint32_t bits) {
  std::string text;
  for (int digit = 7; digit >= 0; --digit) text += "0123456789abcdef"[bits >> (4 * digit) & 0xFU];
  return text;
}

std::uint32_t positive_in(Text text, Text key, Text value) {
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  std::uint32_t bits = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bits, 16);
  if (value.empty() || error != std::errc{} || end != value.data() + value.size() || bits >= kInfinity)
    refuse(text, std::string(key) + "=" + printable(value) + ": fp32 bits of a finite number without sign, in hexadecimal");
  return bits;
}

Integer integer_in(Text text, Text key, Text value, int least, int most) {
  const Integer integer = is_integer(value) ? integer_named(value) : Integer{};
  if (!is_integer(value) || integer.fraction_bits != 0 || integer.width < least || integer.width > most)
    refuse(text, std::string(key) + "=" + printable(value) + ": an integer of " + std::to_string(least) + " to " + std::to_string(most) + " bits");
  return integer;
}

/// A word with a value.
struct Field {
  Text key;
  Text meaning;
  bool always;  ///< said by every text; the others where they are not the usual
  void (*read)(AffineRules& rules, Text text, Text value);
  std::string (*print)(const AffineRules& rules);
  std::string (*values)();
};

#define MXACT_WORDS(key, meaning, always, member, words)                                                                              \
  Field {                                                                                                                             \
    key, meaning, always,                                                                                                             \
        [](AffineRules& how, Text text, Text value) { how.member = value_in(Words<decltype(how.member)>(words), text, key, value); }, \
        [](const AffineRules& how) { return text_in(Words<std::remove_cvref_t<decltype(how.member)>>(words), how.member); },          \
        [] { return values_of(Words<decltype(AffineRules::member)>(words)); }                                                         \
  }
#define MXACT_BITS(key, meaning, member)                                                                                  \
  Field {                                                                                                                 \
    key, meaning, false, [](AffineRules& how, Text text, Text value) { how.member = positive_in(text, key, value); },     \
        [](const AffineRules& how) { return hex_text(how.member); }, [] { return std::string("hexadecimal: fp32 bits"); } \
  }

constexpr std::array kFields{
    Field{"block", "elements that share a scale; row: whatever is handed over", true,
          [](AffineRules& how, Text text, Text value) {
            how.block = same_name(value, "row") ? 0 : rules::number_in(text, "block", value, 1, kMostElements);
          },
          [](const AffineRules& how) { return how.block == 0 ? std::string("row") : std::to_string(how.block); },
          [] { return std::string("a number, row"); }},
    Field{"element", "the integers", true,
          [](AffineRules& how, Text text, Text value) { how.element = integer_in(text, "element", value, 2, kMostWidth); },
          [](const AffineRules& how) { return text_of(how.element); }, [] { return std::string("i2 to i8, u2 to u8"); }},
    Field{"zero", "the format in which a zero point is kept", true,
          [](AffineRules& how, Text text, Text value) {
            how.zero = same_name(value, "none") ? std::nullopt : std::optional(integer_in(text, "zero", value, 2, kMostZeroWidth));
          },
          [](const AffineRules& how) { return how.zero ? text_of(*how.zero) : std::string("none"); },
          [] { return std::string("i2 to i32, u2 to u32; none: the zero point is the middle"); }},
    MXACT_WORDS("scale", "the format of the scale, rounded to nearest even", true, scale, kFormats),
    MXACT_WORDS("range",
                "the numbers lo and hi that codes are spread between: symmetric: the largest magnitude on both sides, if-negative: where there is a "
                "negative number",
                true, range, kRanges),
    MXACT_WORDS(
        "rule",
        "span: (hi - lo) / (qmax - qmin); half-span: max(-lo, hi) / ((qmax - qmin) / 2); farther-side: the larger of lo / qmin and hi / qmax; "
        "largest: max(-lo, hi) / qmax",
        true, rule, kScales),
    Field{"round", "how a quotient becomes whole", true,
          [](AffineRules& how, Text text, Text value) {
            how.round = rules::rounding_in(text, value);
            if (std::ranges::find(integer_roundings(), how.round) == integer_roundings().end())
              refuse(text, "round=" + printable(value) + " is no rounding into integers");
          },
          [](const AffineRules& how) { return std::string(rules::word_of(how.round)); },
          [] {
            std::string text;
            for (const Rounding one : integer_roundings()) text += (text.empty() ? "" : ", ") + std::string(rules::word_of(one));
            return text;
          }},
    MXACT_WORDS("operation", "divide: x / scale; multiply: x * (1 / scale)", true, operation, kOperations),
    MXACT_WORDS("zero-point", "rounded: qmin less lo / scale, rounded; middle: 0, without a sign half of the codes", false, point, kPoints),
    MXACT_WORDS("sums-in-f32", "the zero point is added to a quotient, and lo / scale taken from qmin, in fp32 before they are rounded", false,
                sums_in_f32, kAnswers),
    MXACT_WORDS("narrow", "the least code is not used", false, narrow, kAnswers),
    MXACT_BITS("least-range", "lower bound of hi - lo", least_range),
    MXACT_BITS("least-scale", "lower bound of the scale", least_scale),
    MXACT_BITS("zero-scale", "what stands in for a scale of 0", zero_scale),
    MXACT_WORDS("zeros-span-unit", "zeros alone have the range -1 to 1", false, zeros_span_unit, kAnswers),
};

#undef MXACT_WORDS
#undef MXACT_BITS

/// A word of a text.
struct Said {
  Text key;
  Text value;
};

Text first_word(Text text) {
  Text first = text.substr(0, text.find(','));
  while (first.starts_with(' ')) first.remove_prefix(1);
  while (first.ends_with(' ')) first.remove_suffix(1);
  return first;
}

const AffineRow* named_row(Text name) {
  const auto row = std::ranges::find_if(kNamed, [&](const AffineRow& one) { return same_name(one.name, name); });
  return row == kNamed.end() ? nullptr : &*row;
}

std::vector<Said> words_in(Text whole, Text text) {
  std::vector<Said> words;
  std::vector<Text> known;
  for (const Field& field : kFields) known.push_back(field.key);
  for (const Text part : rules::parts_of(text)) {
    const std::size_t equals = part.find('=');
    const Text key = part.substr(0, equals);
    if (std::ranges::none_of(known, [&](Text one) { return same_name(one, key); })) rules::refuse_word(whole, "word of integers", key, known);
    if (equals == Text::npos) refuse(whole, printable(part) + ": a word of integers has a value, as zero=u4");
    if (std::ranges::any_of(words, [&](const Said& one) { return same_name(one.key, key); })) refuse(whole, printable(key) + " is said twice");
    words.push_back({key, part.substr(equals + 1)});
  }
  return words;
}

/// The words of a text, after a name those of the name that it does not say otherwise.
std::vector<Said> all_words(Text text) {
  const AffineRow* const row = named_row(first_word(text));
  if (row == nullptr && first_word(text).find('=') == Text::npos) {
    std::vector<Text> names;
    for (const AffineRow& one : kNamed) names.push_back(one.name);
    rules::refuse_word(text, "rules of integers", first_word(text), names);
  }
  if (row == nullptr) return words_in(text, text);
  const std::size_t comma = text.find(',');
  std::vector<Said> words = comma == Text::npos ? std::vector<Said>() : words_in(text, text.substr(comma + 1));
  for (const Said& one : words_in(text, row->text)) {
    if (std::ranges::none_of(words, [&](const Said& said) { return same_name(said.key, one.key); })) words.push_back(one);
  }
  return words;
}

void check(Text text, const AffineRules& rules) {
  if (!rules.zero && rules.point != AffineZero::middle) refuse(text, "zero=none keeps no zero point: zero-point=middle");
  if (rules.zero && rules.point == AffineZero::middle) {
    const std::int64_t most = (std::int64_t{1} << (rules.zero->width - (rules.zero->has_sign ? 1 : 0))) - 1;
    if (middle_code(rules) > most) refuse(text, "zero=" + text_of(*rules.zero) + " does not hold the middle, " + std::to_string(middle_code(rules)));
  }
  if (!rules.element.has_sign && rules.narrow) refuse(text, "narrow=yes is of integers with a sign");
  if (!rules.element.has_sign && rules.rule == AffineScale::farther_side) refuse(text, "rule=farther-side is of integers with a sign");
}

}  // namespace

std::string_view name_of(AffineScale rule) { return rows::word_of<AffineScale>(kScales, rule); }

std::span<const AffineRow> named_affine_rules() { return kNamed; }

std::vector<AffineWord> affine_words() {
  std::vector<AffineWord> words;
  for (const Field& field : kFields) words.push_back({field.key, field.meaning, field.values()});
  return words;
}

bool is_affine(std::string_view text) {
  if (named_row(first_word(text)) != nullptr) return true;
  const Text first = first_word(text);
  if (!same_name(first.substr(0, first.find('=')), "block")) return false;
  std::size_t depth = 0;
  Text part;
  for (std::size_t begin = 0, i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')' && depth > 0) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    part = first_word(text.substr(begin, i - begin));
    if (const std::size_t equals = part.find('='); equals != Text::npos && same_name(part.substr(0, equals), "zero")) return true;
    begin = i + 1;
  }
  return false;
}

AffineRules affine_rules(std::string_view text) {
  const std::vector<Said> words = all_words(text);
  AffineRules how;
  for (const Field& field : kFields) {
    const auto said = std::ranges::find_if(words, [&](const Said& one) { return same_name(one.key, field.key); });
    if (said != words.end())
      field.read(how, text, said->value);
    else if (field.always)
      refuse(text, "it does not say " + std::string(field.key) + ", " + std::string(field.meaning) + ": " + field.values());
  }
  check(text, how);
  return how;
}

std::string text_of(const AffineRules& rules) {
  const AffineRules usual;
  std::string text;
  for (const Field& field : kFields) {
    const std::string value = field.print(rules);
    if (field.always || value != field.print(usual)) text += (text.empty() ? "" : ",") + std::string(field.key) + "=" + value;
  }
  return text;
}

}  // namespace mx
