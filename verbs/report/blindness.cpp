// Planted faults and the public tolerances that let them pass.

#include <fmt/core.h>

#include <algorithm>

#include "support/html.hpp"
#include "verbs/draw/colours.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kNameWidth = 270;
constexpr int kCell = 72;
constexpr int kLine = 18;
constexpr int kDrop = 13;
constexpr int kNarrowest = 760;

struct Row {
  std::string fault;
  std::string breaks;
  std::size_t shown = 0;
  std::vector<std::size_t> accepted;  ///< by each rule
};

/// Faults that show in some bit of some run.
std::vector<Row> rows_of(const Run& run) {
  const std::vector<Node> rules = run.root()["tolerances"].items();
  std::vector<Row> rows;
  for (const Node& fault : run.root()["faults"].items()) {
    Row row{fault["id"].text(), fault["breaks"].text(), 0, std::vector<std::size_t>(rules.size())};
    for (const Node& one : fault["runs"].items()) {
      if (one["differ"].count() == 0) continue;
      ++row.shown;
      for (const Node& suite : one["accepted"].items()) {
        const auto rule = std::ranges::find_if(rules, [&](const Node& known) { return known["suite"].text() == suite.text(); });
        if (rule == rules.end()) suite.fail("is none of the tolerances");
        ++row.accepted[static_cast<std::size_t>(rule - rules.begin())];
      }
    }
    if (row.shown > 0) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Outcome blindness_outcome(const Run& run) {
  const std::size_t shown = rows_of(run).size();
  const std::string counted = fmt::format("{} faults that show in an MoE layer's output, {} rules", shown, run.root()["tolerances"].items().size());
  return {shown == 0 ? Standing::nothing : Standing::shown, counted};
}

Figure blindness_figure(const Run& run) {
  const std::vector<Row> rows = rows_of(run);
  const std::vector<Node> rules = run.root()["tolerances"].items();
  if (rows.empty()) run.root()["faults"].fail("shows no fault: there is nothing to draw");
  const auto column = [](std::size_t i) { return kMargin + kNameWidth + static_cast<int>(i) * kCell; };
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", "What public tolerances let pass");
  svg.text(kMargin, y += 20, "soft",
           "share of the runs (backend x data) in which a rule accepts an output that a planted fault changed; empty: none");
  y += 24;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string suite = rules[i]["suite"].text();
    const std::size_t space = std::min(suite.find(' '), suite.size());
    svg.text(column(i) + kCell / 2, y, "soft middle", suite.substr(0, space));
    svg.text(column(i) + kCell / 2, y + 13, "soft middle", suite.substr(std::min(space + 1, suite.size())));
  }
  y += 20;
  for (const Row& row : rows) {
    svg.text(kMargin, y + kDrop, "code", support::shortened(row.fault, 38));
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const std::size_t percent = 100 * row.accepted[i] / row.shown;
      const int shade = static_cast<int>(percent) * (kShades - 1) / 100;
      const std::string hover = fmt::format("{}: {} lets {} of {} runs pass", row.breaks, rules[i]["suite"].text(), row.accepted[i], row.shown);
      if (row.accepted[i] == 0) {
        svg.rect({column(i), y, kCell - 2, kLine - 2}, "blank", {}, hover);
        continue;
      }
      svg.rect({column(i), y, kCell - 2, kLine - 2}, "cell", colour_of(shade), hover);
      svg.text(column(i) + kCell / 2 - 1, y + kDrop - 1, is_light(shade) ? "on-light" : "on-dark", fmt::format("{} %", percent));
    }
    y += kLine;
  }
  return {std::move(svg),         std::max(kNarrowest, column(rules.size()) + kMargin), y + kMargin,
          "mxact faults --blind", "fault x rule: share of broken outputs that pass",    &kChartLook};
}

std::string blindness_html(const Run& run) {
  std::vector<support::HtmlRow> rows;
  for (const Node& rule : run.root()["tolerances"].items()) {
    rows.push_back({{rule["suite"].text()}, {rule["rule"].text(), "text"}, {rule["source"].text(), "text"}});
  }
  const std::string rules = support::html_table("tolerances", {"suite", "rule", "source"}, rows);
  return rows_of(run).empty() ? rules : rules + support::html_wide("what public tolerances let pass", as_part(blindness_figure(run)));
}

}  // namespace mx::verbs
