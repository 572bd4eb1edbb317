// What an upgrade of the engine changes: by kind of change, the most frequent first, with its cause and the smallest deployment that shows it.

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

/// The kinds of changes as a reader asks for them.
constexpr std::array<std::string_view, 4> kKinds{"choice", "refusal", "class", "sizes"};
constexpr std::array<std::string_view, 4> kTitles{"Another backend, or a choice against a refusal", "Another exception",
                                                  "Another class of the same backend", "Other sizes alone"};

/// One side of a change of memory: the layout's row, or why there is none, and the bytes of a layer on a rank.
std::string side_text(const Node& side) {
  const std::optional<Node> layout = side.find("layout"), bytes = side.find("bytes");
  std::string text = layout ? layout->text() : side["backend"].text() + ": " + side["missing"].text();
  if (bytes) text += fmt::format(", {} bytes", bytes->count());
  return text;
}

std::string tensors_text(const Node& tensors) {
  std::string text;
  for (const Node& tensor : tensors.items()) text += (text.empty() ? "" : "; ") + tensor["tensor"].text() + ": " + tensor["differs"].text();
  return text;
}

/// Where the weights lie otherwise, the changes by cause.
std::string memory_html(const Node& root) {
  std::vector<support::HtmlRow> rows;
  const std::optional<Node> changes = root.find("memory");
  if (!changes) return {};  // a run from before memory was compared
  for (const Node& change : changes->items()) {
    rows.push_back({{side_text(change["before"]), "text"},
                    {side_text(change["after"]), "text"},
                    {change["oracle"].text()},
                    {std::to_string(change["deployments"].count()), "number"},
                    {change["cause"].text(), "text"},
                    {tensors_text(change["tensors"]), "text"},
                    {change["smallest"].text(), "code"}});
  }
  if (rows.empty()) return {};
  constexpr std::string_view kTitle = "Weights that lie otherwise in memory";
  const Node counts = root["memory_counts"];
  const std::string found =
      fmt::format("{} of {} deployments, {} not known", counts["differing"].count(), counts["compared"].count(), counts["unknown"].count());
  return support::html_details(
      kTitle, found, support::html_table(kTitle, {"before", "after", "oracle", "deployments", "cause", "tensors", "smallest deployment"}, rows),
      true);
}

/// Where a backend that both versions choose computes otherwise.
std::string arithmetic_html(const Node& root) {
  std::vector<support::HtmlRow> rows;
  const std::optional<Node> changes = root.find("arithmetic");
  if (!changes) return {};  // a run from before arithmetic was compared
  for (const Node& change : changes->items()) {
    rows.push_back({{change["backend"].text()},
                    {change["oracle"].text()},
                    {std::to_string(change["deployments"].count()), "number"},
                    {change["where"].text(), "text"},
                    {change["source"].text(), "text"},
                    {change["smallest"].text(), "code"}});
  }
  if (rows.empty()) return {};
  constexpr std::string_view kTitle = "Backends that compute otherwise";
  return support::html_details(
      kTitle, fmt::format("{} places", rows.size()),
      support::html_table(kTitle, {"backend", "oracle", "deployments", "computes otherwise", "seen in", "smallest deployment"}, rows), true);
}

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
  std::array<std::vector<support::HtmlRow>, kKinds.size()> rows;
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
  std::string html = support::html_paragraph(fmt::format(
      "What changes for me when I upgrade from {} to {}? A deployment file asks for itself: mxact engine diff {} {} FILE.", from, to, from, to));
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (rows[kind].empty()) continue;
    html += support::html_details(
        kTitles[kind], fmt::format("{} deployments", counts[kind]),
        support::html_table(kTitles[kind], {"before", "after", "oracle", "deployments", "cause", "smallest deployment"}, rows[kind]), true);
  }
  return html + memory_html(run.root()) + arithmetic_html(run.root());
}

}  // namespace mx::verbs
