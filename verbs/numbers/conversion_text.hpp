#pragma once
// Conversions and flags in words, for people and for JSON: the same words in every verb.

#include <string>
#include <string_view>

#include "model/numerics/convert.hpp"
#include "support/json.hpp"

namespace mx::verbs {

using support::Json;

/// "nearest_even, saturate"
std::string short_text(const Conversion& how);

/// Every choice of the conversion into `to`, and all of them as the text of rules.
Json conversion_json(const Conversion& how, const Format& to);

/// "none", "source", "target", "both"
std::string_view flush_word(Flush flush);

/// "inexact overflow saturated"; empty when none is set.
std::string flag_words(const Flags& flags);

}  // namespace mx::verbs
