// What an upgrade of the engine changes: by kind of change, the most frequent first, with its cause and the smallest deployment that shows it.

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::golden {
namespace {

/// The kinds of changes as a reader asks for them.
constexpr std::array<std::string_view, 4> kKinds{"choice", "refusal", "class", "sizes"};
constexpr std::array<std::string_view, 4> kTitles{"Another backend, or a choice against a refusal", "Another exception",
                                                  "Another class of the same backend", "Other sizes alone"};

}  // namespace

Outcome upgrade_outcome(const Run& run) {
  const Node root = run.root();
  std::int64_t changed = 0;
  for (const Node& change : root["changes"].items()) changed += change["deployments"].count();
  const std::int64_t asked = root["deployments"].count();
  if (changed > asked) root["changes"].fail(fmt::format("are {} deployments, of {} that were asked", changed, asked));
  return {asked == 0 ? Standing::nothing : Standing::shown,
          fmt::format("{} to {}: {} of {} deployments change", root["from"].text(), root["to"].text(), changed, asked)};
}

std::string upgrade_html(const Run& run) {
  std::array<std::vector<HtmlRow>, kKinds.size()> rows;
  std::array<std::int64_t, kKinds.size()> counts{};
  for (const Node& change : run.root()["changes"].items()) {
    const std::size_t kind = change["kind"].word_of("kind of change", kKinds);
    rows[kind].push_back({{change["before"].text()},
                          {change["after"].text()},
                          {change["oracle"].text()},
                          {std::to_string(change["deployments"].count()), "number"},
                          {change["cause"].text(), "text"},
                          {change["smallest"].text(), "code"}});
    counts[kind] += change["deployments"].count();
  }
  const std::string from = run.root()["from"].text(), to = run.root()["to"].text();
  std::string html = html_paragraph(fmt::format(
      "What changes for me when I upgrade from {} to {}? A deployment file asks for itself: mxact engine diff {} {} FILE.", from, to, from, to));
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (rows[kind].empty()) continue;
    html += html_details(kTitles[kind], fmt::format("{} deployments", counts[kind]),
                         html_table(kTitles[kind], {"before", "after", "oracle", "deployments", "cause", "smallest deployment"}, rows[kind]), true);
  }
  return html;
}

}  // namespace mx::golden
