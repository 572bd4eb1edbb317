#pragma once
// Numbers among the words of a command line.

#include <cstdint>
#include <functional>
#include <string>

namespace mx::cli {

/// Without the spaces before it: how a value such as -inf, which looks like an option, comes through the command line.
std::string trimmed(const std::string& word);

/// A check for an integer option: empty when the text is a whole number in low..high, else what is wrong with it.
std::function<std::string(const std::string&)> whole_number_in(std::int64_t low, std::int64_t high);

}  // namespace mx::cli
