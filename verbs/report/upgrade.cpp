// What an upgrade of the engine changes: by kind of change, the most frequent first, with its cause and the smallest deployment that shows it.

#include <fmt/core.h>

#include <map>
#include <string>
#include <vector>

#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::golden {
namespace {

/// The kinds of changes as a reader asks for them.
constexpr std::pair<std::string_view, std::string_view> kKinds[] = {{"choice", "Another backend, or a choice against a refusal"},
                                                                    {"refusal", "Another exception"},
                                                                    {"class", "Another class of the same backend"},
                                                                    {"sizes", "Other sizes alone"}};

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
  std::map<std::string, std::vector<HtmlRow>> by_kind;
  std::map<std::string, std::int64_t> counts;
  for (const Node& change : run.root()["changes"].items()) {
    const std::string& kind = change["kind"].text();
    by_kind[kind].push_back({{change["before"].text()},
                             {change["after"].text()},
                             {change["oracle"].text()},
                             {std::to_string(change["deployments"].count()), "number"},
                             {change["cause"].text(), "text"},
                             {change["smallest"].text(), "code"}});
    counts[kind] += change["deployments"].count();
  }
  std::string html =
      html_paragraph(fmt::format("What changes for me when I upgrade from {} to {}? A deployment file asks for itself: mxact engine diff {} {} FILE.",
                                 run.root()["from"].text(), run.root()["to"].text(), run.root()["from"].text(), run.root()["to"].text()));
  for (const auto& [kind, title] : kKinds) {
    const auto rows = by_kind.find(std::string(kind));
    if (rows == by_kind.end()) continue;
    html += html_details(title, fmt::format("{} deployments", counts[rows->first]),
                         html_table(title, {"before", "after", "oracle", "deployments", "cause", "smallest deployment"}, rows->second), true);
  }
  return html;
}

}  // namespace mx::golden
