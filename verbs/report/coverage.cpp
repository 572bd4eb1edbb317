// Which bins the tables of golden vectors hit: a bar for each family of tables and axis.

#include <fmt/core.h>

#include <algorithm>

#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kNameWidth = 190;
constexpr int kFull = 420;  // pixels of all bins
constexpr int kLine = 20;
constexpr int kDrop = 14;
constexpr int kWidth = 900;

/// Bins of one axis, over all tables of a family.
struct Axis {
  std::string family;
  std::string name;
  std::int64_t tables = 0;
  std::int64_t hit = 0;
  std::int64_t reachable = 0;
  std::int64_t total = 0;
};

/// "cast" of "cast/f32_to_e4m3fn.ocp.directed"
std::string family_of(const std::string& table) { return table.substr(0, table.find('/')); }

std::vector<Axis> axes_of(const Node& coverage) {
  std::vector<Axis> axes;
  for (const Node& table : coverage["tables"].items()) {
    const std::string family = family_of(table["table"].text());
    for (const Node& one : table["axes"].items()) {
      const std::string& name = one["axis"].text();
      auto axis = std::ranges::find_if(axes, [&](const Axis& known) { return known.family == family && known.name == name; });
      if (axis == axes.end()) {
        // Beside the others of its family.
        const auto last = std::ranges::find_if(axes.rbegin(), axes.rend(), [&](const Axis& known) { return known.family == family; });
        axis = axes.insert(last.base() == axes.begin() ? axes.end() : last.base(), Axis{family, name, 0, 0, 0, 0});
      }
      const std::int64_t hit = one["hit"].count(), reachable = one["reachable"].count(), total = one["total"].count();
      if (hit > reachable || reachable > total) one.fail(fmt::format("has {} bins hit of {} reachable of {}", hit, reachable, total));
      ++axis->tables;
      axis->hit += hit;
      axis->reachable += reachable;
      axis->total += total;
    }
  }
  return axes;
}

int pixels(std::int64_t part, std::int64_t whole) { return whole == 0 ? 0 : static_cast<int>(part * kFull / whole); }

}  // namespace

bool has_coverage(const Run& run) { return run.root().find("coverage").has_value(); }

Outcome coverage_outcome(const Run& run) {
  const Node coverage = run.root()["coverage"];
  const std::size_t tables = coverage["tables"].items().size();
  const std::string counted = fmt::format("{} tables hit {} of {} reachable bins; {} more cannot be reached", tables, coverage["hit"].count(),
                                          coverage["reachable"].count(), coverage["total"].count() - coverage["reachable"].count());
  return {tables == 0 ? Standing::nothing : Standing::shown, counted};
}

Figure coverage_figure(const Run& run) {
  const std::vector<Axis> axes = axes_of(run.root()["coverage"]);
  if (axes.empty()) run.root()["coverage"].fail("has no table: there is nothing to draw");
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", "Bins of the golden vectors");
  svg.text(kMargin, y += 20, "soft", coverage_outcome(run).counted);
  y += 16;
  int x = kMargin;
  for (const auto& [style, meaning] : {std::pair{"first-fill", "hit"}, {"second-fill", "reachable, missed"}, {"refused", "no input reaches it"}}) {
    svg.rect({x, y, 14, 12}, style);
    svg.text(x + 20, y + 10, "text", meaning);
    x += 160;
  }
  y += 14;
  const int left = kMargin + kNameWidth;
  std::string family;
  for (const Axis& axis : axes) {
    if (axis.family != family) {
      family = axis.family;
      y += 24;
      svg.text(kMargin, y, "head", family);
      y += 6;
    }
    const int hit = pixels(axis.hit, axis.total);
    const int reachable = pixels(axis.reachable, axis.total);
    const std::string hover = fmt::format("{}/{}: {} tables, {} bins hit, {} missed, {} unreachable", axis.family, axis.name, axis.tables, axis.hit,
                                          axis.reachable - axis.hit, axis.total - axis.reachable);
    svg.text(kMargin, y + kDrop, "code", support::shortened(axis.name, 26));
    svg.rect({left, y + 3, kFull, kLine - 6}, "refused", {}, hover);
    svg.rect({left, y + 3, reachable, kLine - 6}, "second-fill", {}, hover);
    svg.rect({left, y + 3, hit, kLine - 6}, "first-fill", {}, hover);
    svg.text(left + kFull + 12, y + kDrop, "text",
             axis.hit == axis.reachable ? fmt::format("all {} reachable, {} tables", axis.reachable, axis.tables)
                                        : fmt::format("{} of {} reachable, {} tables", axis.hit, axis.reachable, axis.tables));
    y += kLine;
  }
  return {std::move(svg), kWidth, y + kMargin, "mxact vectors --coverage", "bins hit, missed and out of reach, by family and axis", &kChartLook};
}

std::string coverage_html(const Run& run) {
  std::vector<support::HtmlRow> rows;
  for (const Node& table : run.root()["coverage"]["tables"].items()) {
    for (const Node& axis : table["axes"].items()) {
      const std::int64_t missed = axis["reachable"].count() - axis["hit"].count();
      if (missed == 0) continue;
      rows.push_back({{table["table"].text()},
                      {axis["axis"].text()},
                      {std::to_string(missed), "number"},
                      {std::to_string(axis["reachable"].count()), "number"}});
    }
  }
  const std::size_t count = rows.size();
  const std::string picture = axes_of(run.root()["coverage"]).empty() ? std::string() : support::html_wide("bins", as_part(coverage_figure(run)));
  return picture + (rows.empty()
                        ? std::string()
                        : support::html_details("Reachable bins that are missed", std::to_string(count),
                                                support::html_table("missed bins", {"table", "axis", "missed", "reachable"}, rows), count <= 24));
}

}  // namespace mx::verbs
