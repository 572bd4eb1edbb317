#include "verbs/draw/panel.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "verbs/draw/colours.hpp"

namespace mx::verbs {
namespace {

constexpr int kTickRoom = 64;  // beside the rows
constexpr int kHeadRoom = 44;  // above the columns
constexpr int kWidest = 1344;
constexpr int kTallest = 1344;
constexpr int kMostStrips = 12;
constexpr std::int64_t kStripRows = 16;  // strips of long grids break at multiples of this
constexpr int kSmallestCell = 2;
constexpr int kNumberCell = 20;  // from here on a cell holds four digits
constexpr int kLargeCell = 26;
constexpr int kLargestCell = 32;
constexpr int kLineOfLabel = 8;
constexpr std::int64_t kMostLabelled = 4096;
constexpr double kTickLetter = 6.6;
constexpr double kHeadLetter = 8.5;
constexpr double kCellLetter = 4.3;

PanelShape shape_in(const Grid& grid, int strips) {
  std::int64_t rows = (grid.rows + strips - 1) / strips;
  if (strips > 1) rows = (rows + kStripRows - 1) / kStripRows * kStripRows;
  rows = std::min(rows, grid.rows);
  const std::int64_t used = (grid.rows + rows - 1) / rows;
  const std::int64_t wide = (kWidest - used * kTickRoom) / (grid.columns * used);
  const int cell = static_cast<int>(std::clamp<std::int64_t>(std::min(wide, kTallest / rows), kSmallestCell, kLargestCell));
  const int strip = kTickRoom + static_cast<int>(grid.columns) * cell;
  const int title = kTickRoom + static_cast<int>(kHeadLetter * static_cast<double>(grid.title.size()));
  return {cell, static_cast<int>(used), rows, strip, std::max(static_cast<int>(used) * strip, title), kHeadRoom + static_cast<int>(rows) * cell};
}

/// Whether every label can be read: some labelled and some not would look like a difference.
bool labels_fit(const Grid& grid, int cell) {
  std::size_t letters = 0;
  int lines = 1;
  for (const GridCell& one : grid.cells) {
    letters = std::max({letters, one.label[0].size(), one.label[1].size()});
    if (!one.label[1].empty()) lines = 2;
  }
  return static_cast<double>(letters) * kCellLetter + 1 <= cell && lines * kLineOfLabel <= cell;
}

/// The rows first .. first + rows - 1 of a grid.
class Strip {
 public:
  Strip(support::Svg& svg, const Grid& grid, const PanelShape& shape, std::int64_t first, int x, int y)
      : svg_(svg),
        grid_(grid),
        cell_(shape.cell),
        first_(first),
        rows_(std::min(shape.strip_rows, grid.rows - first)),
        x_(x + kTickRoom),
        y_(y + kHeadRoom) {}

  void draw() {
    if (static_cast<std::int64_t>(grid_.cells.size()) <= kMostLabelled)
      single_cells();
    else
      joined_cells();
    lines();
    column_ticks();
    row_ticks();
  }

 private:
  bool has_row(std::int64_t row) const { return row >= first_ && row < first_ + rows_; }
  int column_x(std::int64_t column) const { return x_ + static_cast<int>(column) * cell_; }
  int row_y(std::int64_t row) const { return y_ + static_cast<int>(row - first_) * cell_; }
  const GridCell& cell_at(std::int64_t row, std::int64_t column) const { return grid_.cells[static_cast<std::size_t>(row * grid_.columns + column)]; }

  /// Each cell for itself, with its label and what it says when pointed at.
  void single_cells() {
    const bool fit = labels_fit(grid_, cell_);
    for (std::int64_t row = first_; row < first_ + rows_; ++row) {
      for (std::int64_t column = 0; column < grid_.columns; ++column) {
        if (cell_at(row, column).kind != CellKind::outside) single_cell(cell_at(row, column), column_x(column), row_y(row), fit);
      }
    }
  }

  void single_cell(const GridCell& cell, int x, int y, bool fit) {
    const int shade = shade_of(cell.place, grid_.places);
    const auto kind = std::ranges::find(kKinds, cell.kind, &KindRow::kind);
    svg_.rect({x, y, cell_, cell_}, "pad", kind == kKinds.end() ? colour_of(shade) : std::string(kind->fill), cell.hover);
    if (cell.kind == CellKind::element && fit) label(cell, x, y, is_light(shade) ? "on-light" : "on-dark");
  }

  void label(const GridCell& cell, int x, int y, std::string_view ink) {
    const std::string style = fmt::format("cell {}{}", ink, cell_ >= kLargeCell ? " large" : "");
    const int middle = y + cell_ / 2 + 3;
    const bool two = !cell.label[1].empty();
    const int shift = kLineOfLabel / 2 + (cell_ >= kLargeCell ? 1 : 0);
    svg_.text(x + cell_ / 2, two ? middle - shift : middle, style, cell.label[0]);
    if (two) svg_.text(x + cell_ / 2, middle + shift, style, cell.label[1]);
  }

  /// Cells of one fill have the same number: the shade of an element, behind the shades the kinds without one.
  std::size_t fill_of(const GridCell& cell) const {
    return static_cast<std::size_t>(cell.kind == CellKind::element ? shade_of(cell.place, grid_.places) : kShades + static_cast<int>(cell.kind));
  }

  /// All cells of one fill as one shape, neighbours in a row as one box of it.
  void joined_cells() {
    std::array<support::Svg::Boxes, kShades + kCellKinds> fills;
    for (std::int64_t row = first_; row < first_ + rows_; ++row) {
      for (std::int64_t begin = 0, end = 0; begin < grid_.columns; begin = end) {
        const std::size_t fill = fill_of(cell_at(row, begin));
        while (++end < grid_.columns && fill_of(cell_at(row, end)) == fill) continue;
        fills.at(fill).add({column_x(begin), row_y(row), static_cast<int>(end - begin) * cell_, cell_});
      }
    }
    for (int shade = 0; shade < kShades; ++shade) svg_.boxes(fills.at(static_cast<std::size_t>(shade)), "pad", colour_of(shade));
    for (const KindRow& row : kKinds) svg_.boxes(fills.at(static_cast<std::size_t>(kShades) + static_cast<std::size_t>(row.kind)), "pad", row.fill);
  }

  /// Thin lines closer than this would hide the cells.
  bool is_visible(const Edge& edge, const std::vector<Edge>& edges) const {
    constexpr int kNearest = 10;
    if (edge.strength > 1) return true;
    std::int64_t nearest = edges.front().before;
    for (std::size_t i = 1; i < edges.size(); ++i) nearest = std::min(nearest, edges[i].before - edges[i - 1].before);
    return nearest * cell_ >= kNearest;
  }

  void lines() {
    const int right = column_x(grid_.columns);
    const int bottom = row_y(first_ + rows_);
    // The strongest last, on top.
    for (int strength = 1; strength <= 3; ++strength) {
      const std::string style = fmt::format("edge{}", strength);
      for (const Edge& edge : grid_.column_edges) {
        if (edge.strength != strength || !is_visible(edge, grid_.column_edges)) continue;
        svg_.line(column_x(edge.before), y_, column_x(edge.before), bottom, style);
      }
      for (const Edge& edge : grid_.row_edges) {
        if (edge.strength != strength || edge.before == first_ || !has_row(edge.before) || !is_visible(edge, grid_.row_edges)) continue;
        svg_.line(x_, row_y(edge.before), right, row_y(edge.before), style);
      }
    }
    svg_.rect({x_, y_, right - x_, bottom - y_}, "frame");
  }

  void column_ticks() {
    // Between two strips there is no room for both names.
    const bool is_last = first_ + rows_ == grid_.rows;
    svg_.text(x_ - 6, y_ - 6, "tick row", grid_.row_title);
    if (is_last) svg_.text(column_x(grid_.columns) + 4, y_ - 6, "tick", grid_.column_title);
    int free_from = 0;
    for (const Tick& tick : grid_.column_ticks) {
      const int left = column_x(tick.at) + std::min(cell_ / 2, 4);
      if (left < free_from) continue;
      free_from = left + static_cast<int>(kTickLetter * static_cast<double>(tick.text.size() + 1));
      svg_.text(left, y_ - 6, "tick", tick.text);
    }
  }

  void row_ticks() {
    constexpr int kLineHeight = 10;
    int free_from = 0;
    for (const Tick& tick : grid_.row_ticks) {
      const int y = row_y(tick.at) + cell_ / 2 + 4;
      if (!has_row(tick.at) || y < free_from) continue;
      free_from = y + kLineHeight;
      svg_.text(x_ - 6, y, "tick row", tick.text);
    }
  }

  support::Svg& svg_;
  const Grid& grid_;
  int cell_;
  std::int64_t first_;
  std::int64_t rows_;
  int x_;
  int y_;
};

}  // namespace

PanelShape shape_of(const Grid& grid) {
  PanelShape best = shape_in(grid, 1);
  for (int strips = 2; strips <= kMostStrips && best.cell < kNumberCell; ++strips) {
    const PanelShape shape = shape_in(grid, strips);
    if (shape.cell > best.cell) best = shape;
  }
  return best;
}

void draw_panel(support::Svg& svg, const Grid& grid, int x, int y) {
  const PanelShape shape = shape_of(grid);
  constexpr int kHeadLine = 14;
  svg.text(x + kTickRoom, y + kHeadLine, "head", grid.title);
  for (int strip = 0; strip < shape.strips; ++strip) Strip(svg, grid, shape, strip * shape.strip_rows, x + strip * shape.strip_width, y).draw();
}

}  // namespace mx::verbs
