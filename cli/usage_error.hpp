#pragma once
// What is wrong with a command line, in words for whoever typed it.

#include <string>
#include <vector>

#include "cli/option_table.hpp"

namespace mx::cli {

/// A command line that the parser did not take.
struct Refusal {
  enum class Reason { extra_words, no_number, missing, other };

  std::string path;  ///< the verb as typed, with the program's name: "mxact layout where"
  VerbEntry verb;
  Reason reason;
  std::string message;            ///< in the parser's words
  std::vector<std::string> left;  ///< words that have no place
};

/// True for "-0.5", "-.5", "-inf": a value that begins as an option does.
bool looks_like_a_value(const std::string& text);

/// Throws Error(usage) for a verb that is not known, with the nearest one, and where a verb is missing; before the parse, which would call a misspelt
/// verb an unexpected argument. `name` is the program's.
void check_verbs(const std::string& name, const VerbEntry& program, const std::vector<std::string>& words);

/// The message for what was refused: the option or word, what it should have been, and which --help says more.
std::string usage_message(const Refusal& refusal, const std::vector<std::string>& words);

}  // namespace mx::cli
