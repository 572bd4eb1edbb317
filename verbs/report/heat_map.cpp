#include "verbs/report/heat_map.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "verbs/draw/colours.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kNames = 330;
constexpr int kCell = 92;
constexpr int kLine = 24;
constexpr int kNarrowest = 620;
constexpr std::size_t kLongestName = 46;  // letters that fit beside the cells
constexpr std::size_t kLongestHead = 14;

std::size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

int x_of(std::size_t column) { return kMargin + kNames + static_cast<int>(column) * kCell; }

}  // namespace

void HeatMap::add(const std::string& row, const std::string& column, double value, std::string hover) {
  cells_.push_back({place_of(rows_, row), place_of(columns_, column), value, std::move(hover)});
}

Figure HeatMap::figure() const {
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", title_);
  svg.text(kMargin, y += 20, "soft", note_);
  y += 28;
  for (std::size_t i = 0; i < columns_.size(); ++i) svg.text(x_of(i) + kCell / 2, y, "soft middle", support::shortened(columns_[i], kLongestHead));
  y += 8;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    svg.text(kMargin, y + static_cast<int>(i) * kLine + 16, "code", support::shortened(rows_[i], kLongestName));
  const auto [low, high] = std::ranges::minmax_element(cells_, {}, &Cell::value);
  for (const Cell& cell : cells_) {
    // Halves: the difference of two doubles may be beyond the largest one.
    const bool spread = high->value > low->value;
    const double part = spread ? (cell.value / 2 - low->value / 2) / (high->value / 2 - low->value / 2) : 1;
    const int shade = static_cast<int>(part * (kShades - 1));
    const int top = y + static_cast<int>(cell.row) * kLine;
    svg.rect({x_of(cell.column), top, kCell - 2, kLine - 2}, "cell", colour_of(shade), cell.hover);
    svg.text(x_of(cell.column) + kCell / 2 - 1, top + 16, is_light(shade) ? "on-light" : "on-dark", fmt::format("{:.4g}", cell.value));
  }
  const int height = y + static_cast<int>(rows_.size()) * kLine + kMargin;
  return {std::move(svg), std::max(kNarrowest, x_of(columns_.size()) + kMargin), height, title_, note_, &kChartLook};
}

}  // namespace mx::verbs
