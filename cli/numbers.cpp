#include "cli/numbers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::cli {

std::string trimmed(const std::string& word) { return word.substr(std::min(word.find_first_not_of(' '), word.size())); }

std::function<std::string(const std::string&)> whole_number_in(std::int64_t low, std::int64_t high) {
  return [low, high](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high) return {};
    return fmt::format("{} is not a whole number in {}..{}", support::in_quotes(text), low, high);
  };
}

std::vector<int> numbers_and_ranges(const std::vector<std::string>& words, const std::string& thing, int last, const std::string& option) {
  std::vector<int> numbers;
  for (const std::string& word : words) {
    const auto refuse = [&](const std::string& rule) { throw Error(ErrorCode::usage, fmt::format("{} {}", support::in_quotes(word), rule), option); };
    const auto number_of = [&](std::string_view text) {
      int number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc{} || end != text.data() + text.size() || number < 0)
        refuse(fmt::format("is no {}, from 0, and no range of {}s such as 0-3", thing, thing));
      return number;
    };
    const std::size_t dash = word.find('-');
    const std::string_view text = word;
    const int first = number_of(text.substr(0, dash)), end = dash == std::string::npos ? first : number_of(text.substr(dash + 1));
    if (end < first) refuse("ends before it begins: a range has its first number first");
    if (end > last) refuse(fmt::format("is not in 0..{}", last));
    for (int number = first; number <= end; ++number) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace mx::cli
