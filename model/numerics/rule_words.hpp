#pragma once
// The words of a text of rules (rules.hpp), one row each: how each is read and printed. For .cpp files of this folder.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/rules.hpp"

namespace mx::rules {

/// What a format without a sign makes of negative numbers.
enum class Negative { magnitude, nan, zero, least, directed };

/// P3109's ways of overflow, each of which says three rules by the target.
enum class Saturation { finite, propagate, none };

/// What a text says of a conversion, before a target is known. What is not said follows from the target: its own NaN, code 0 for zero.
struct Draft {
  std::optional<Rounding> rounding;
  std::optional<Overflow> overflow;
  std::optional<NanRule> nan_rule;
  std::uint32_t nan_positive = 0, nan_negative = 0;
  std::optional<std::uint32_t> zero_code;
  std::optional<Negative> negative;
  std::optional<Saturation> saturation;  ///< in the place of overflow, infinity and negative
  int random_bits = 0;
  Flush flush = Flush::none;
  Preparation before = {};
  FineRules fine = {};
};

/// A word with a value.
struct Field {
  RuleWord say;
  void (*read)(Draft& draft, std::string_view text, std::string_view value);  ///< `text`: the whole, for errors
  std::string (*print)(const Draft& draft, int digits);                       ///< empty: nothing to say; `digits` of a code
};
std::span<const Field> fields();

/// Throws Error(usage): "rules 'TEXT': WHAT".
[[noreturn]] void refuse(std::string_view text, const std::string& what);
/// The same for a word that is none of these, with the nearest and all of them.
[[noreturn]] void refuse_word(std::string_view text, std::string_view what, std::string_view word, std::span<const std::string_view> known);

/// The rounding of a word, as "rtz" and "toward-zero"; throws as refuse_word. And its first word.
Rounding rounding_in(std::string_view text, std::string_view value);
std::string_view word_of(Rounding rounding);

/// The parts of a text between commas outside brackets, without blanks around them.
std::vector<std::string_view> parts_of(std::string_view text);
/// A whole number. Throws as refuse.
int number_in(std::string_view text, std::string_view key, std::string_view value, int low, int high);

/// fp32 bits of a magnitude, which may be Inf, in hexadecimal with or without 0x. Throws as refuse.
std::uint32_t magnitude_in(std::string_view text, std::string_view key, std::string_view value);

/// Throws as refuse where a saturation stands beside a rule that it says.
void require_one_overflow(std::string_view text, const Draft& draft);

/// What the draft does for a target; the draft of a conversion, with everything said.
Conversion conversion_of(std::string_view text, const Draft& draft, const Format& to);
Draft draft_of(const Conversion& how, const Format& to);
/// The fields that are said, each with a comma before it.
std::string text_of(const Draft& draft, int digits);

/// Whose numbers a format may have.
enum class Range { of_f32, any };

/// The format that the parts without a value, and bias, say. Null where they say none. Takes what it reads out of `parts`.
std::optional<Format> read_format(std::string_view text, std::vector<std::string_view>& parts, Range range);

/// Whether a word says the widths of a format and is no name: "e3m3", "s4f4".
bool is_shape(std::string_view word);

/// A named or further format by its address that never changes, or null. Aliases as format_named has them.
const Format* find_named_format(std::string_view name);
/// The named or further format with these bits, or null.
const Format* same_format(const Format& format);

}  // namespace mx::rules
