#include "cli/numbers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "support/quote.hpp"

namespace mx::cli {

std::string trimmed(const std::string& word) { return word.substr(std::min(word.find_first_not_of(' '), word.size())); }

std::function<std::string(const std::string&)> whole_number_in(std::int64_t low, std::int64_t high) {
  return [low, high](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high) return {};
    return fmt::format("{} is not a whole number in {}..{}", sim::in_quotes(text), low, high);
  };
}

}  // namespace mx::cli
