#pragma once
// Numbers among the words of a command line.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mx::cli {

/// Without the spaces before it: how a value such as -inf, which looks like an option, comes through the command line.
std::string trimmed(const std::string& word);

/// A check for an integer option: empty when the text is a whole number in low..high, else what is wrong with it.
std::function<std::string(const std::string&)> whole_number_in(std::int64_t low, std::int64_t high);

/// Numbers and ranges of them in the order in which they were typed: "3", "0-2". `thing` is what they count, "job". Throws Error(usage) with
/// `option` as its place for a word that is neither, a range that ends before it begins, and a number above `last`.
std::vector<int> numbers_and_ranges(const std::vector<std::string>& words, const std::string& thing, int last, const std::string& option);

}  // namespace mx::cli
