#pragma once
// The words that an option takes, where they are names of tables.

#include <string>
#include <vector>

#include "cli/option_table.hpp"

namespace mx::cli {

/// What completes a value of an option of `verb`, sorted; empty when it is a number, a path or free text.
std::vector<std::string> known_words(const VerbEntry& verb, const OptionEntry& option);

}  // namespace mx::cli
