#pragma once
// Patterns by which configurations name modules: expressions and wildcards.

#include <string>
#include <string_view>

namespace mx::checkpoint {

/// Whether an expression fits from the name's beginning, as Python's re.match. Expressions have literals, . [] [^] \d \w \. ^ $ | groups, (?:) (?!)
/// (?=) and the repetitions * + ? {m,n}, lazy ones too. `place` names the expression in errors. Throws Error(input) for an expression that is none, is
/// longer than 1024 characters or deeper than 32 groups, takes more than a million steps or 2048 at once.
bool fits_expression(std::string_view expression, std::string_view name, const std::string& place);

/// Whether a pattern fits the whole name: '*' is anything, dots too, '?' one character, [seq] and [!seq] one of a set. Source: Python's fnmatchcase.
bool fits_wildcards(std::string_view pattern, std::string_view name);

}  // namespace mx::checkpoint
