#pragma once
// Formats, and conversions into them, as text that anyone may write without a new build:
// "e4m3,bias=7,fn,round=rtz,overflow=ieee,nan=7f,tininess=after". What such a text says stands wherever a name of a format or of a profile does.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/numerics/profile.hpp"

namespace mx {

/// A word of such a text, for people.
struct RuleWord {
  std::string_view key;  ///< "round"; words without a value are of the format: "e4m3", "fn"
  std::string_view meaning;
  std::string_view values;
};
std::span<const RuleWord> rule_words();

/// True for a text that says rules or the widths of a format; false for a name.
bool is_rules(std::string_view text);

/// The format alone: "e4m3,bias=7,fn". Every format but a wide source has such a text.
std::string text_of(const Format& format);
/// The format and every choice of the conversion into it. Read again, it is the same conversion.
std::string text_of(const Format& format, const Conversion& how);

/// The format that a text says, with its rules where it has any. The same text gives the same address; one that says what a named format is and no
/// rules gives the named one. Names of named and further formats are such texts. Throws Error(usage) for an unknown word, with the nearest one and
/// the list, and for what cannot be together, with the rule. Whatever a format can hold, fp32 holds: widths up to 32, E up to 8, no value beyond
/// fp32's.
const Format& format_of_text(std::string_view text);
/// The same without the last rule: E up to 16 (any_format_named).
const Format& any_format_of_text(std::string_view text);

/// The profile that a text says: rules, and a format where they are of one alone. Likewise.
const Profile& profile_of_text(std::string_view text);

/// A profile that is written as rules, by name: "ieee", "riscv".
struct NamedRules {
  std::string_view name;
  std::string_view text;
  std::string_view source;
};
std::span<const NamedRules> named_rules();
/// Null where no rules have that name.
const Profile* find_named_rules(std::string_view name);

/// Whether the profile is written as rules. Its rows are made as they are asked for.
bool is_of_rules(const Profile& profile);
/// What it does for a target. Throws Error(usage) with the rule that cannot be had there.
const Conversion& conversion_by_rules(const Profile& profile, const Format& to);

/// The profile by which a format that says its own rules is converted into; null where it says none.
const Profile* rules_within(const Format& to);
/// `profile`, or that of the target where it says its own rules. Throws Error(usage) for a profile beside them that is neither they nor `ocp`.
const Profile& profile_for(const Profile& profile, const Format& to);

/// Number of a format or profile that stands in no table, from 0 on, and back; none or null for another. For handles of the C library.
std::optional<std::int32_t> number_of_own(const Format& format);
std::optional<std::int32_t> number_of_own(const Profile& profile);
const Format* own_format(std::int32_t number);
const Profile* own_profile(std::int32_t number);

}  // namespace mx
