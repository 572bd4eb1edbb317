// Choices of a conversion as words.

#include "model/numerics/rule_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/fault.hpp"
#include "model/numerics/rows.hpp"

namespace mx::rules {
namespace {

using rows::Word;

// The first word of a value is the one that is printed.
constexpr std::array kRoundings{Word<Rounding>{Rounding::nearest_even, "rne"},
                                Word<Rounding>{Rounding::nearest_away, "rna"},
                                Word<Rounding>{Rounding::nearest_toward_zero, "rnz"},
                                Word<Rounding>{Rounding::toward_zero, "rtz"},
                                Word<Rounding>{Rounding::toward_positive, "rup"},
                                Word<Rounding>{Rounding::toward_negative, "rdn"},
                                Word<Rounding>{Rounding::to_odd, "odd"},
                                Word<Rounding>{Rounding::away, "away"},
                                Word<Rounding>{Rounding::magnitude_up, "magnitude-up"},
                                Word<Rounding>{Rounding::nearest_up, "nearest-up"},
                                Word<Rounding>{Rounding::nearest_log2_even, "nearest-log2-even"},
                                Word<Rounding>{Rounding::nearest_log2_away, "nearest-log2-away"},
                                Word<Rounding>{Rounding::nearest_even_code, "nearest-even-code"},
                                Word<Rounding>{Rounding::interpreter_nearest, "interpreter-nearest"},
                                Word<Rounding>{Rounding::interpreter_cut, "interpreter-cut"},
                                Word<Rounding>{Rounding::float_pkg_nearest, "float-pkg-nearest"},
                                Word<Rounding>{Rounding::first_least_distance, "first-least-distance"},
                                Word<Rounding>{Rounding::first_least_distance_signed, "first-least-distance-signed"},
                                Word<Rounding>{Rounding::stochastic_floor, "stochastic-floor"},
                                Word<Rounding>{Rounding::stochastic_odd, "stochastic-odd"},
                                Word<Rounding>{Rounding::stochastic_nearest, "stochastic-nearest"},
                                Word<Rounding>{Rounding::stochastic_add, "stochastic-add"},
                                Word<Rounding>{Rounding::nearest_even, "nearest-even"},
                                Word<Rounding>{Rounding::nearest_away, "nearest-away"},
                                Word<Rounding>{Rounding::nearest_away, "rmm"},
                                Word<Rounding>{Rounding::nearest_toward_zero, "nearest-toward-zero"},
                                Word<Rounding>{Rounding::toward_zero, "toward-zero"},
                                Word<Rounding>{Rounding::toward_positive, "toward-positive"},
                                Word<Rounding>{Rounding::toward_negative, "toward-negative"},
                                Word<Rounding>{Rounding::to_odd, "to-odd"},
                                Word<Rounding>{Rounding::nearest_even, "nearest-ties-to-even"},
                                Word<Rounding>{Rounding::nearest_away, "nearest-ties-to-away"},
                                Word<Rounding>{Rounding::stochastic_floor, "stochastic-a"},
                                Word<Rounding>{Rounding::stochastic_odd, "stochastic-b"},
                                Word<Rounding>{Rounding::stochastic_nearest, "stochastic-c"}};
constexpr std::array kOverflows{Word<Overflow>{Overflow::ieee, "ieee"},
                                Word<Overflow>{Overflow::saturate, "saturate"},
                                Word<Overflow>{Overflow::inf, "inf"},
                                Word<Overflow>{Overflow::nan, "nan"},
                                Word<Overflow>{Overflow::inf_unrounded, "inf-unrounded"},
                                Word<Overflow>{Overflow::nan_unrounded, "nan-unrounded"},
                                Word<Overflow>{Overflow::wrap, "wrap"}};
constexpr std::array kInfinities{Word<InfinityRule>{InfinityRule::as_overflow, "as-overflow"},
                                 Word<InfinityRule>{InfinityRule::inf, "inf"},
                                 Word<InfinityRule>{InfinityRule::nan, "nan"},
                                 Word<InfinityRule>{InfinityRule::as_nan, "as-nan"},
                                 Word<InfinityRule>{InfinityRule::largest, "largest"},
                                 Word<InfinityRule>{InfinityRule::zero, "zero"}};
constexpr std::array kNanRules{Word<NanRule>{NanRule::keep_payload, "keep"}, Word<NanRule>{NanRule::quiet_payload, "quiet"},
                               Word<NanRule>{NanRule::refused, "refused"}};
constexpr std::array kZeroSigns{Word<SignOfZero>{SignOfZero::keep, "keep"}, Word<SignOfZero>{SignOfZero::positive, "positive"},
                                Word<SignOfZero>{SignOfZero::positive_if_zero, "positive-if-zero"}};
constexpr std::array kNegatives{Word<Negative>{Negative::magnitude, "magnitude"}, Word<Negative>{Negative::nan, "nan"},
                                Word<Negative>{Negative::zero, "zero"}, Word<Negative>{Negative::least, "least"},
                                Word<Negative>{Negative::directed, "directed"}};
constexpr std::array kSaturations{Word<Saturation>{Saturation::finite, "finite"},
                                  Word<Saturation>{Saturation::propagate, "propagate"},
                                  Word<Saturation>{Saturation::none, "none"},
                                  Word<Saturation>{Saturation::finite, "sat-finite"},
                                  Word<Saturation>{Saturation::propagate, "sat-propagate"},
                                  Word<Saturation>{Saturation::none, "sat-none"}};
constexpr std::array kFlushes{Word<Flush>{Flush::none, "none"}, Word<Flush>{Flush::source, "source"}, Word<Flush>{Flush::target, "target"},
                              Word<Flush>{Flush::both, "both"}};
constexpr std::array kTinies{Word<bool>{false, "least"}, Word<bool>{true, "nan"}};
constexpr std::array kTininess{Word<Tininess>{Tininess::before, "before"}, Word<Tininess>{Tininess::after, "after"},
                               Word<Tininess>{Tininess::result, "result"}};
constexpr std::array kOverflowFlags{Word<OverflowFlag>{OverflowFlag::ieee, "ieee"},
                                    Word<OverflowFlag>{OverflowFlag::not_finite_result, "not-finite-result"},
                                    Word<OverflowFlag>{OverflowFlag::infinite_too, "infinite-too"}};

template <typename Enum>
Enum word_in(std::string_view text, std::string_view key, std::string_view value, std::span<const Word<Enum>> words) {
  std::vector<std::string_view> known;
  for (const Word<Enum>& word : words) {
    if (same_name(word.name, value)) return word.value;
    known.push_back(word.name);
  }
  refuse_word(text, key, value, known);
}

/// The word of a value that is said even where it is the usual one.
template <typename Enum>
std::string said(std::span<const Word<Enum>> words, const std::optional<Enum>& value) {
  return value ? std::string(rows::word_of<Enum>(words, *value)) : std::string();
}
/// Nothing for the first word.
template <typename Enum>
std::string unusual(std::span<const Word<Enum>> words, Enum value) {
  return value == words.front().value ? std::string() : std::string(rows::word_of<Enum>(words, value));
}

/// At least so many digits.
std::string hex(std::uint32_t bits, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr int kMostDigits = 8;
  while (digits < kMostDigits && bits >> (4 * digits) != 0) ++digits;
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += kDigits[bits >> (4 * i) & 0xFU];
  return text;
}

/// Hexadecimal digits, with or without 0x.
std::uint32_t bits_in(std::string_view text, std::string_view key, std::string_view value) {
  std::uint32_t bits = 0;
  const std::string_view digits = value.starts_with("0x") ? value.substr(2) : value;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    refuse(text, std::string(key) + "=" + printable(value) + ": hexadecimal digits of up to 32 bits, as 7f");
  return bits;
}

constexpr int kF32Digits = 8;

void read_nan(Draft& draft, std::string_view text, std::string_view value) {
  const auto rule = std::ranges::find_if(kNanRules, [&](const auto& word) { return same_name(word.name, value); });
  draft.nan_rule = rule == kNanRules.end() ? NanRule::fixed : rule->value;
  if (rule != kNanRules.end()) return;
  const std::size_t slash = value.find('/');
  draft.nan_positive = bits_in(text, "nan", value.substr(0, slash));
  draft.nan_negative = slash == std::string_view::npos ? draft.nan_positive : bits_in(text, "nan", value.substr(slash + 1));
}
std::string nan_text(const Draft& draft, int digits) {
  if (!draft.nan_rule) return {};
  if (*draft.nan_rule != NanRule::fixed) return std::string(rows::word_of<NanRule>(kNanRules, *draft.nan_rule));
  const std::string positive = hex(draft.nan_positive, digits);
  return draft.nan_positive == draft.nan_negative ? positive : positive + "/" + hex(draft.nan_negative, digits);
}

void read_through(Draft& draft, std::string_view text, std::string_view value) {
  const Format* format = find_named_format(value);
  if (format == nullptr) refuse(text, "through=" + printable(value) + ": the name of a format, as bf16");
  draft.before.through = format;
}

void read_range(Draft& draft, std::string_view text, std::string_view value) {
  const std::size_t dots = value.find(".."), colon = value.find(':');
  if (dots == std::string_view::npos || colon == std::string_view::npos || colon < dots)
    refuse(text, "range=" + printable(value) + ": two fp32 patterns and a code, as 43f00000..43f80000:7e");
  const RangeCode range{magnitude_in(text, "range", value.substr(0, dots)), magnitude_in(text, "range", value.substr(dots + 2, colon - dots - 2)),
                        bits_in(text, "range", value.substr(colon + 1))};
  if (range.from >= range.to) refuse(text, "range=" + printable(value) + ": nothing lies from the first magnitude on and below the second");
  draft.before.range = range;
}
std::string range_text(const Draft& draft, int digits) {
  if (!draft.before.range) return {};
  return hex(draft.before.range->from, kF32Digits) + ".." + hex(draft.before.range->to, kF32Digits) + ":" + hex(draft.before.range->code, digits);
}

using Text = std::string_view;
constexpr std::array kFields{
    Field{{"round", "direction of rounding", "rne, rna, rnz, rtz, rup, rdn, odd, away, stochastic-floor, ... (rne: nearest, ties to even)"},
          [](Draft& d, Text t, Text v) { d.rounding = word_in<Rounding>(t, "round", v, kRoundings); },
          [](const Draft& d, int) { return said<Rounding>(kRoundings, d.rounding); }},
    Field{{"random", "random bits of a stochastic rounding", "1 to 32"},
          [](Draft& d, Text t, Text v) { d.random_bits = number_in(t, "random", v, 1, 32); },
          [](const Draft& d, int) { return d.random_bits == 0 ? std::string() : std::to_string(d.random_bits); }},
    Field{{"overflow", "what is above the largest number",
           "ieee (7.4, by direction), saturate, inf, nan, inf-unrounded, nan-unrounded, wrap (the carry is dropped)"},
          [](Draft& d, Text t, Text v) { d.overflow = word_in<Overflow>(t, "overflow", v, kOverflows); },
          [](const Draft& d, int) { return said<Overflow>(kOverflows, d.overflow); }},
    Field{{"saturation", "P3109's, in the place of overflow, infinity and negative", "finite, propagate, none"},
          [](Draft& d, Text t, Text v) { d.saturation = word_in<Saturation>(t, "saturation", v, kSaturations); },
          [](const Draft& d, int) { return said<Saturation>(kSaturations, d.saturation); }},
    Field{{"infinity", "what an Inf gives", "as-overflow, inf, nan, as-nan (what a NaN gives), largest, zero"},
          [](Draft& d, Text t, Text v) { d.fine.infinity = word_in<InfinityRule>(t, "infinity", v, kInfinities); },
          [](const Draft& d, int) { return unusual<InfinityRule>(kInfinities, d.fine.infinity); }},
    Field{
        {"nan", "code of a NaN, with clear and with set sign", "hexadecimal, as 7f or 7f/ff; keep, quiet: its payload; refused"}, read_nan, nan_text},
    Field{{"zero-sign", "sign of a zero result", "keep, positive, positive-if-zero"},
          [](Draft& d, Text t, Text v) { d.fine.zero_sign = word_in<SignOfZero>(t, "zero-sign", v, kZeroSigns); },
          [](const Draft& d, int) { return unusual<SignOfZero>(kZeroSigns, d.fine.zero_sign); }},
    Field{{"zero-code", "code of 0 where the format has none", "hexadecimal"},
          [](Draft& d, Text t, Text v) { d.zero_code = bits_in(t, "zero-code", v); },
          [](const Draft& d, int digits) { return d.zero_code ? hex(*d.zero_code, digits) : std::string(); }},
    Field{{"negative", "a negative number into a format without sign",
           "magnitude, nan, zero (-Inf as Inf), least (-Inf too), directed (NaN unless it rounds to 0 or up)"},
          [](Draft& d, Text t, Text v) { d.negative = word_in<Negative>(t, "negative", v, kNegatives); },
          [](const Draft& d, int) { return said<Negative>(kNegatives, d.negative); }},
    Field{{"flush", "subnormals that become zero", "none, source, target, both"},
          [](Draft& d, Text t, Text v) { d.flush = word_in<Flush>(t, "flush", v, kFlushes); },
          [](const Draft& d, int) { return unusual<Flush>(kFlushes, d.flush); }},
    Field{{"power", "the number is multiplied by 2 to it first, exactly", "-256 to 255"},
          [](Draft& d, Text t, Text v) { d.before.power = number_in(t, "power", v, -256, 255); },
          [](const Draft& d, int) { return d.before.power == 0 ? std::string() : std::to_string(d.before.power); }},
    Field{{"through", "the format that a number is rounded to first, nearest even", "a name"},
          read_through,
          [](const Draft& d, int) { return d.before.through == nullptr ? std::string() : std::string(d.before.through->name); }},
    Field{{"least-input", "what is below is raised to it", "fp32 bits"},
          [](Draft& d, Text t, Text v) { d.before.least_input = magnitude_in(t, "least-input", v); },
          [](const Draft& d, int) { return d.before.least_input ? hex(*d.before.least_input, kF32Digits) : std::string(); }},
    Field{{"tiny", "a positive number below the least of a format without zero", "least, nan"},
          [](Draft& d, Text t, Text v) { d.before.tiny_is_nan = word_in<bool>(t, "tiny", v, kTinies); },
          [](const Draft& d, int) { return unusual<bool>(kTinies, d.before.tiny_is_nan); }},
    Field{{"range", "a code of its own for a range of magnitudes", "fp32 bits from, below, and the code: 43f00000..43f80000:7e"},
          read_range,
          range_text},
    Field{{"tininess", "which results underflow", "before, after (rounding), result"},
          [](Draft& d, Text t, Text v) { d.fine.tininess = word_in<Tininess>(t, "tininess", v, kTininess); },
          [](const Draft& d, int) {
            return fault::planted(fault::Fault::rules_forget_tininess) ? std::string() : unusual<Tininess>(kTininess, d.fine.tininess);
          }},
    Field{{"overflow-flag", "which results raise overflow", "ieee, not-finite-result, infinite-too (an Inf, which is inexact too)"},
          [](Draft& d, Text t, Text v) { d.fine.overflow_flag = word_in<OverflowFlag>(t, "overflow-flag", v, kOverflowFlags); },
          [](const Draft& d, int) { return unusual<OverflowFlag>(kOverflowFlags, d.fine.overflow_flag); }},
};

bool is_powers(const Format& to) { return to.encoding == Encoding::exponent_only; }

/// A NaN of the format as most implementations have it: quiet, positive.
std::uint32_t own_nan(const Format& to) {
  if (nan_is_negative_zero(to)) return 1U << (to.width - 1);
  if (to.specials == Specials::inf_top) return magnitude_mask(to);
  return max_finite_code(to) + 1U + (to.specials == Specials::ieee ? 1U << (to.mantissa_bits - 1) : 0U);
}

/// A combination that there is not, and the rule that says so.
struct Rule {
  bool broken;
  std::string_view words;
};

void check(std::string_view text, const Conversion& how, const Draft& draft, const Format& to) {
  const bool nan = has_nan(to), inf = has_inf(to);
  const bool searches = how.rounding == Rounding::first_least_distance || how.rounding == Rounding::first_least_distance_signed;
  const bool of_powers = how.rounding == Rounding::magnitude_up || how.rounding == Rounding::nearest_up ||
                         how.rounding == Rounding::nearest_log2_even || how.rounding == Rounding::nearest_log2_away ||
                         how.rounding == Rounding::nearest_even_code;
  const auto is_code = [&](std::uint32_t code) { return to.width == 32 || code >> to.width == 0; };
  const bool keeps_payload = how.nan_rule == NanRule::keep_payload || how.nan_rule == NanRule::quiet_payload;
  const int most_added = kF32.mantissa_bits - to.mantissa_bits;
  const Rule rules[] = {
      {(how.overflow == Overflow::inf || how.overflow == Overflow::inf_unrounded) && !inf, "overflow=inf needs a format with Inf: ieee, inf-top"},
      {(how.overflow == Overflow::nan || how.overflow == Overflow::nan_unrounded) && !nan, "overflow=nan needs a format with NaN: not finite"},
      {how.fine.infinity == InfinityRule::inf && !inf, "infinity=inf needs a format with Inf: ieee, inf-top"},
      {how.fine.infinity == InfinityRule::nan && !nan, "infinity=nan needs a format with NaN: not finite"},
      {how.fine.infinity == InfinityRule::as_nan && how.nan_rule != NanRule::fixed, "infinity=as-nan needs a code of NaNs: nan=7f"},
      {keeps_payload && to.specials != Specials::ieee, "nan=keep and nan=quiet need the NaNs of IEEE 754: ieee"},
      {how.nan_rule == NanRule::fixed && !(is_code(how.nan_positive) && is_code(how.nan_negative)), "nan is a code of the format"},
      {!is_code(how.zero_code), "zero-code is a code of the format"},
      {how.before.range && !is_code(how.before.range->code), "the code of range is one of the format"},
      {draft.zero_code && *draft.zero_code != 0 && !is_powers(to), "zero-code is of formats without zero: no-zero"},
      {draft.negative && to.has_sign, "negative is of formats without sign"},
      {(how.negative_is_nan || how.fine.negative == NegativeRule::directed) && !nan && !to.has_sign,
       "negative=nan and negative=directed need a format with NaN"},
      {of_powers && !is_powers(to), "this rounding is of formats of powers alone: no-zero"},
      {searches && (!to.has_sign || to.encoding != Encoding::floating || !fits_f32(to)),
       "first-least-distance searches floating-point formats with sign, whose numbers are of fp32"},
      {reads_source_bits(how.rounding) && (!to.has_sign || to.encoding != Encoding::floating),
       "interpreter roundings and float-pkg-nearest are of floating-point formats with sign"},
      {is_stochastic(how.rounding) != (how.random_bits > 0), "stochastic roundings and random=N go together"},
      {how.rounding == Rounding::stochastic_add && how.random_bits > most_added, "stochastic-add takes at most 23 - M random bits"},
      {how.before.tiny_is_nan && !is_powers(to), "tiny=nan is of formats without zero: no-zero"},
  };
  for (const Rule& rule : rules) {
    if (rule.broken) refuse(text, "into " + std::string(to.name) + ": " + std::string(rule.words));
  }
}

constexpr std::array kNegativeRules{NegativeRule::as_said, NegativeRule::as_said, NegativeRule::zero, NegativeRule::least, NegativeRule::directed};

NegativeRule rule_of(Negative negative) { return kNegativeRules[static_cast<std::size_t>(negative)]; }

/// What a saturation says for the target. Source: P3109 4.0 section 4.7.5.
Draft with_saturation(Draft draft, const Format& to) {
  if (!draft.saturation) return draft;
  const bool none = draft.saturation == Saturation::none, extended = has_inf(to);
  draft.overflow = none && extended ? Overflow::ieee : Overflow::saturate;
  if (draft.saturation == Saturation::propagate && extended) draft.fine.infinity = InfinityRule::inf;
  if (!to.has_sign) draft.negative = none ? Negative::directed : Negative::least;
  return draft;
}

/// Where bits are moved nothing else is chosen: fields that say nothing have one value.
Draft with_rest_of_moved_bits(Draft draft) {
  if (!draft.rounding || !reads_source_bits(*draft.rounding)) return draft;
  if (!draft.overflow) draft.overflow = Overflow::saturate;
  if (!draft.nan_rule) draft.nan_rule = NanRule::fixed;
  return draft;
}

}  // namespace

std::span<const Field> fields() { return kFields; }

void require_one_overflow(std::string_view text, const Draft& draft) {
  const bool both = draft.saturation && (draft.overflow || draft.negative || draft.fine.infinity != InfinityRule::as_overflow);
  if (both) refuse(text, "saturation says overflow, infinity and negative: they cannot stand beside it");
}

void refuse(std::string_view text, const std::string& what) { throw Error(ErrorCode::usage, "rules '" + printable(text) + "': " + what); }

void refuse_word(std::string_view text, std::string_view what, std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(word, known);
  std::string message = "unknown " + std::string(what) + " '" + printable(word) + "'";
  if (!nearest.empty()) message += " (did you mean " + std::string(nearest) + "?)";
  message += "; known:";
  for (const std::string_view name : known) message += " " + std::string(name);
  refuse(text, message);
}

Rounding rounding_in(std::string_view text, std::string_view value) { return word_in<Rounding>(text, "round", value, kRoundings); }
std::string_view word_of(Rounding rounding) { return rows::word_of<Rounding>(kRoundings, rounding); }

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t first = 0;
  const auto add = [&](std::size_t end) {
    std::string_view part = text.substr(first, end - first);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (part.empty()) refuse(text, "an empty word: words stand between commas");
    parts.push_back(part);
    first = end + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth < 0) refuse(text, "a ')' without its '('");
    if (text[i] == ',' && depth == 0) add(i);
  }
  if (depth != 0) refuse(text, "a '(' without its ')'");
  add(text.size());
  return parts;
}

std::uint32_t magnitude_in(std::string_view text, std::string_view key, std::string_view value) {
  constexpr std::uint32_t kInfinity = 0x7F800000;
  const std::uint32_t bits = bits_in(text, key, value);
  if (bits > kInfinity) refuse(text, std::string(key) + "=" + printable(value) + ": fp32 bits without a sign, and of no NaN");
  return bits;
}

int number_in(std::string_view text, std::string_view key, std::string_view value, int low, int high) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < low || number > high)
    refuse(text, std::string(key) + "=" + printable(value) + ": a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return number;
}

Conversion conversion_of(std::string_view text, const Draft& said, const Format& to) {
  require_one_overflow(text, said);
  const Draft draft = with_rest_of_moved_bits(with_saturation(said, to));
  if (!draft.rounding) refuse(text, "it does not say how numbers are rounded: round=rne");
  if (!draft.overflow) refuse(text, "it does not say what overflows become: overflow=ieee, overflow=saturate");
  const bool nan = has_nan(to);
  Conversion how{*draft.rounding,
                 *draft.overflow,
                 draft.nan_rule.value_or(nan ? NanRule::fixed : NanRule::refused),
                 draft.nan_positive,
                 draft.nan_negative,
                 draft.zero_code.value_or(0),
                 false,
                 draft.random_bits,
                 draft.flush,
                 draft.before,
                 draft.fine};
  if (!draft.nan_rule && nan) how.nan_positive = how.nan_negative = own_nan(to);
  const Negative negative = draft.negative.value_or(!to.has_sign && nan ? Negative::nan : Negative::magnitude);
  how.negative_is_nan = negative == Negative::nan;
  how.fine.negative = rule_of(negative);
  check(text, how, draft, to);
  return how;
}

Draft draft_of(const Conversion& how, const Format& to) {
  if (reads_source_bits(how.rounding)) {
    Draft rounding_alone;
    rounding_alone.rounding = how.rounding;
    return rounding_alone;
  }
  Draft draft{how.rounding, how.overflow, how.nan_rule,    how.nan_positive, how.nan_negative, {},
              {},           {},           how.random_bits, how.flush,        how.before,       how.fine};
  if (is_powers(to)) draft.zero_code = how.zero_code;
  if (!to.has_sign) draft.negative = how.negative_is_nan ? Negative::nan : Negative::magnitude;
  for (const Negative ruled : {Negative::zero, Negative::least, Negative::directed}) {
    if (!to.has_sign && how.fine.negative == rule_of(ruled)) draft.negative = ruled;
  }
  return draft;
}

std::string text_of(const Draft& draft, int digits) {
  std::string text;
  for (const Field& field : fields()) {
    if (const std::string value = field.print(draft, digits); !value.empty()) text += "," + std::string(field.say.key) + "=" + value;
  }
  return text;
}

}  // namespace mx::rules
