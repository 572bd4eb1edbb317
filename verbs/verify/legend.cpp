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
constexpr std::size_t kLines = 24;

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
  std::vector<std::pair<sim::KnownPlace, std::vector<std::string>>> places;
  for (const sim::ConversionResult& result : report.conversions) {
    for (const sim::KnownPlace& place : result.known_to_differ) {
      auto known = std::ranges::find(places, place, [](const auto& entry) { return entry.first; });
      if (known == places.end()) known = places.insert(places.end(), {place, {}});
      if (std::ranges::find(known->second, result.backend) == known->second.end()) known->second.push_back(result.backend);
    }
  }
  if (!places.empty()) add_wrapped(lines, fmt::format("{}: {}", kKnownToDiffer, kKnownToDifferMeaning));
  std::size_t shown = 0;
  for (const auto& [place, backends] : places) {
    std::vector<std::string> more;
    add_wrapped(more, fmt::format("  {}: {} ({})", fmt::join(backends, ", "), place.where, place.source));
    if (lines.size() + more.size() >= kLines) break;
    lines.insert(lines.end(), more.begin(), more.end());
    ++shown;
  }
  if (shown < places.size()) lines.push_back(fmt::format("  and {} more places: --json has them all", places.size() - shown));
  for (std::string& line : lines) document.line(std::move(line));
}

}  // namespace mx::verbs
