// The error study: how far quantized blocks are from their inputs, for each format, scale rule and distribution.

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "golden/draw/colours.hpp"
#include "golden/html/html.hpp"
#include "golden/report/parts.hpp"

namespace mx::golden {
namespace {

struct StudyCell {
  std::size_t row;
  std::size_t column;
  double sqnr;
  std::string hover;
};
struct StudyGrid {
  std::vector<std::string> rows;     ///< "mxfp4 floor"
  std::vector<std::string> columns;  ///< distributions
  std::vector<StudyCell> cells;
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();

  int shade(const StudyCell& cell) const {
    // Halves: the difference of two doubles may be beyond the largest one.
    return highest > lowest ? static_cast<int>((cell.sqnr / 2 - lowest / 2) / (highest / 2 - lowest / 2) * (kShades - 1)) : kShades - 1;
  }
};

std::size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

StudyGrid grid_of(const Run& run) {
  StudyGrid grid;
  for (const Node& one : run.root()["results"].items()) {
    const std::string row = fmt::format("{} {}", one["format"].text(), one["scale_rule"].text());
    const std::string column = one["distribution"].text();
    StudyCell cell{place_of(grid.rows, row), place_of(grid.columns, column), one["sqnr_db"].number(), {}};
    cell.hover = fmt::format("{}, {}: SQNR {:.2f} dB, largest error {:g}, saturated {:.3g} %, flushed {:.3g} %", row, column, cell.sqnr,
                             one["max_error"].number(), 100 * one["saturated"].number(), 100 * one["flushed"].number());
    grid.lowest = std::min(grid.lowest, cell.sqnr);
    grid.highest = std::max(grid.highest, cell.sqnr);
    grid.cells.push_back(std::move(cell));
  }
  return grid;
}

}  // namespace

Outcome study_outcome(const Run& run) {
  const StudyGrid grid = grid_of(run);
  const std::string counted = fmt::format("{} combinations of format and scale rule on {} distributions", grid.rows.size(), grid.columns.size());
  return {grid.cells.empty() ? Standing::nothing : Standing::shown, counted};
}

Figure study_figure(const Run& run) {
  constexpr int kMargin = 24;
  constexpr int kNames = 230;
  constexpr int kCell = 92;
  constexpr int kLine = 24;
  const StudyGrid grid = grid_of(run);
  Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", "Error of quantized blocks");
  svg.text(kMargin, y += 20, "soft", "signal to quantization noise in dB: more is better; a cell says more when it is pointed at");
  y += 28;
  const auto x_of = [&](std::size_t column) { return kMargin + kNames + static_cast<int>(column) * kCell; };
  for (std::size_t i = 0; i < grid.columns.size(); ++i) svg.text(x_of(i) + kCell / 2, y, "soft middle", grid.columns[i]);
  y += 8;
  for (std::size_t i = 0; i < grid.rows.size(); ++i) svg.text(kMargin, y + static_cast<int>(i) * kLine + 16, "code", grid.rows[i]);
  for (const StudyCell& cell : grid.cells) {
    const int top = y + static_cast<int>(cell.row) * kLine;
    const int shade = grid.shade(cell);
    svg.rect({x_of(cell.column), top, kCell - 2, kLine - 2}, "cell", colour_of(shade), cell.hover);
    svg.text(x_of(cell.column) + kCell / 2 - 1, top + 16, is_light(shade) ? "on-light" : "on-dark", fmt::format("{:.1f}", cell.sqnr));
  }
  const int width = std::max(620, x_of(grid.columns.size()) + kMargin);
  const int height = y + static_cast<int>(grid.rows.size()) * kLine + kMargin;
  return {std::move(svg), width, height, "mxact error study", "SQNR by format, scale rule and distribution", &kChartLook};
}

std::string study_html(const Run& run) { return html_wide("error heat map", as_part(study_figure(run))); }

}  // namespace mx::golden
