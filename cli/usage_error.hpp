#pragma once
// What is wrong with a command line, in words for whoever typed it.

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace mx::cli {

/// Throws Error(usage) for a verb that is not known, with the nearest one, and where a verb is missing; before CLI11 parses, which would call a
/// misspelt verb an unexpected argument.
void check_verbs(const CLI::App& program, const std::vector<std::string>& words);

/// The message for what CLI11 refused: the option or word, what it should have been, and which --help says more.
std::string usage_message(const CLI::App& program, const CLI::ParseError& error, const std::vector<std::string>& words);

}  // namespace mx::cli
