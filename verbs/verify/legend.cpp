#include "verbs/verify/legend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "model/grounds.hpp"

namespace mx::verbs {
namespace {

/// Of a terminal.
constexpr std::size_t kWidth = 80;

/// A line in as many of a terminal's width as it takes, those behind the first indented by four more.
void add_wrapped(std::vector<std::string>& lines, const std::string& text) {
  const std::size_t indent = text.find_first_not_of(' ');
  std::istringstream words(text);
  std::string line(indent, ' ');
  std::size_t begin = indent;  // of this line's words
  for (std::string word; words >> word;) {
    const bool fits = line.size() + 1 + word.size() <= kWidth;
    if (line.size() > begin && !fits) {
      begin = indent + 4;
      lines.push_back(std::exchange(line, std::string(begin, ' ')));
    }
    line += (line.size() > begin ? " " : "") + word;
  }
  lines.push_back(line);
}

}  // namespace

void add_legend(Document& document, const sim::VerifyReport& report) {
  std::vector<std::string> lines;
  for (const GroundsWord& word : grounds_legend()) {
    const auto stands_on = [&](const sim::ConversionResult& result) {
      return std::ranges::find(result.grounds, word.grounds) != result.grounds.end();
    };
    if (std::ranges::any_of(report.conversions, stands_on)) add_wrapped(lines, fmt::format("{}: {}", word.name, word.meaning));
  }
  std::vector<std::pair<std::string, std::string>> rows;  // a backend and its places
  for (const sim::ConversionResult& result : report.conversions) {
    for (const sim::KnownPlace& place : result.known_to_differ) {
      auto known = std::ranges::find(rows, result.backend, [](const auto& row) { return row.first; });
      if (known == rows.end()) known = rows.insert(rows.end(), {result.backend, {}});
      if (known->second.find(place.where) == std::string::npos) known->second += (known->second.empty() ? "" : "; ") + place.where;
    }
  }
  if (!rows.empty()) add_wrapped(lines, fmt::format("{}: {} (--json: whose outputs)", kKnownToDiffer, kKnownToDifferMeaning));
  for (const auto& [backend, where] : rows) lines.push_back(fmt::format("  {}: {}", backend, where));
  for (std::string& line : lines) document.line(std::move(line));
}

}  // namespace mx::verbs
