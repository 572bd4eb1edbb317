#include "golden/draw/picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "golden/draw/colours.hpp"
#include "golden/draw/grid.hpp"
#include "golden/draw/svg.hpp"
#include "golden/layouts/where.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::golden {
namespace {

constexpr int kMargin = 28;
constexpr int kTickRoom = 64;  // beside the rows
constexpr int kHeadRoom = 44;  // above the columns
constexpr int kPanelGap = 36;
constexpr int kWidestPanel = 1024;
constexpr int kWidestPicture = 1900;
constexpr int kNarrowest = 640;
constexpr int kSmallestCell = 2;
constexpr int kLargestCell = 32;
constexpr int kLabelledCell = 15;  // from here on a cell can hold a number
constexpr std::int64_t kMostLabelled = 4096;
constexpr int kBarWidth = 256;
constexpr double kLetter = 6.6;  // width of a letter of the small text
constexpr double kCellLetter = 4.3;

// Classes rather than variables: not every viewer knows CSS variables.
constexpr std::string_view kStyle =
    "text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1b1f24}"
    ".paper{fill:#fff}.title{font:bold 20px 'DejaVu Sans',Helvetica,Arial,sans-serif}.head{font:bold 13px 'DejaVu Sans',Helvetica,Arial,sans-serif}"
    ".small{font-size:11px}.tick{font-size:10px;fill:#57606a}.row{text-anchor:end}.cell{font-size:7px;text-anchor:middle}"
    ".on-light{fill:#000}.on-dark{fill:#fff}.frame{fill:none;stroke:#57606a}.edge1{stroke:#fff;stroke-width:.75}.edge2{stroke:#fff;stroke-width:2}"
    ".edge3{stroke:#d1242f;stroke-width:2}.pad{stroke:none}.hatch{stroke:#8c959f;stroke-width:1.2}.hatch-paper{fill:#eaeef2}.outside{fill:#fff}"
    ".dots{fill:#d1242f}.cross{stroke:#d1242f;stroke-width:1.2}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.paper,.outside{fill:#0d1117}.tick{fill:#9198a1}.frame{stroke:#9198a1}"
    ".on-light{fill:#000}.on-dark{fill:#fff}.edge1,.edge2{stroke:#0d1117}.hatch-paper{fill:#21262d}.hatch{stroke:#7d8590}}";

constexpr std::string_view kPatterns =
    "<pattern id=\"zero\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"6\" height=\"6\"/>"
    "<path class=\"hatch\" d=\"M-1 1l2-2M0 6l6-6M5 7l2-2\"/></pattern>"
    "<pattern id=\"neutral\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"6\" height=\"6\"/>"
    "<path class=\"hatch\" d=\"M-1 5l2 2M0 0l6 6M5 -1l2 2\"/></pattern>"
    "<pattern id=\"unwritten\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"6\" height=\"6\"/>"
    "<circle class=\"dots\" cx=\"3\" cy=\"3\" r=\"1.3\"/></pattern>"
    "<pattern id=\"cut\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatch-paper\" width=\"8\" height=\"8\"/>"
    "<path class=\"cross\" d=\"M2 2l4 4M6 2l-4 4\"/></pattern>";

/// How a cell without an element is filled, and what the legend says of it.
struct KindRow {
  CellKind kind;
  std::string_view fill;
  std::string_view legend;
};
constexpr std::array<KindRow, 4> kKinds{{
    {CellKind::zero, "url(#zero)", "padding, zero"},
    {CellKind::neutral, "url(#neutral)", "padding, 0x7f"},
    {CellKind::unwritten, "url(#unwritten)", "padding, never written"},
    {CellKind::cut, "url(#cut)", "element without an address"},
}};

struct Size {
  int width;
  int height;
};

int cell_size(const Grid& grid) {
  const std::int64_t fits = kWidestPanel / std::max(grid.columns, grid.rows / 2);
  return static_cast<int>(std::clamp<std::int64_t>(fits, kSmallestCell, kLargestCell));
}

Size panel_size(const Grid& grid) {
  const int cell = cell_size(grid);
  return {kTickRoom + static_cast<int>(grid.columns) * cell, kHeadRoom + static_cast<int>(grid.rows) * cell};
}

/// One grid with its head, ticks and lines.
class Panel {
 public:
  Panel(Svg& svg, const Grid& grid, std::int64_t addresses, int x, int y)
      : svg_(svg), grid_(grid), addresses_(addresses), cell_(cell_size(grid)), x_(x + kTickRoom), y_(y + kHeadRoom) {}

  void draw() {
    svg_.text(x_, y_ - kHeadRoom + 14, "head", grid_.title);
    if (is_labelled())
      labelled_cells();
    else
      plain_cells();
    lines();
    ticks();
  }

 private:
  bool is_labelled() const { return static_cast<std::int64_t>(grid_.cells.size()) <= kMostLabelled; }
  int column_x(std::int64_t column) const { return x_ + static_cast<int>(column) * cell_; }
  int row_y(std::int64_t row) const { return y_ + static_cast<int>(row) * cell_; }

  void labelled_cells() {
    for (std::size_t i = 0; i < grid_.cells.size(); ++i) {
      const Cell& cell = grid_.cells[i];
      if (cell.kind == CellKind::outside) continue;
      const Box box{column_x(static_cast<std::int64_t>(i) % grid_.columns), row_y(static_cast<std::int64_t>(i) / grid_.columns), cell_, cell_};
      const int shade = shade_of(cell.address, addresses_);
      const auto kind = std::ranges::find(kKinds, cell.kind, &KindRow::kind);
      svg_.rect(box, "pad", kind == kKinds.end() ? colour_of(shade) : std::string(kind->fill), cell.hover);
      const bool fits = cell_ >= kLabelledCell && static_cast<double>(cell.label.size()) * kCellLetter <= cell_;
      if (cell.kind != CellKind::element || !fits) continue;
      svg_.text(box.x + cell_ / 2, box.y + cell_ / 2 + 3, is_light(shade) ? "cell on-light" : "cell on-dark", cell.label);
    }
  }

  void plain_cells() {
    std::array<Svg::Squares, kShades> shades;
    std::array<Svg::Squares, kCellKinds> kinds;
    for (std::size_t i = 0; i < grid_.cells.size(); ++i) {
      const Cell& cell = grid_.cells[i];
      Svg::Squares& squares = cell.kind == CellKind::element ? shades.at(static_cast<std::size_t>(shade_of(cell.address, addresses_)))
                                                             : kinds.at(static_cast<std::size_t>(cell.kind));
      squares.add(column_x(static_cast<std::int64_t>(i) % grid_.columns), row_y(static_cast<std::int64_t>(i) / grid_.columns), cell_);
    }
    for (int shade = 0; shade < kShades; ++shade) svg_.squares(shades.at(static_cast<std::size_t>(shade)), "pad", colour_of(shade));
    for (const KindRow& row : kKinds) svg_.squares(kinds.at(static_cast<std::size_t>(row.kind)), "pad", row.fill);
  }

  /// Lines closer than this would hide the cells.
  bool is_visible(const Edge& edge, const std::vector<Edge>& edges) const {
    constexpr int kNearest = 10;
    if (edge.strength > 1) return true;
    std::int64_t nearest = edges.front().before;
    for (std::size_t i = 1; i < edges.size(); ++i) nearest = std::min(nearest, edges[i].before - edges[i - 1].before);
    return nearest * cell_ >= kNearest;
  }

  void lines() {
    const int right = column_x(grid_.columns);
    const int bottom = row_y(grid_.rows);
    // The strongest last, on top.
    for (int strength = 1; strength <= 3; ++strength) {
      const std::string style = fmt::format("edge{}", strength);
      for (const Edge& edge : grid_.column_edges) {
        if (edge.strength != strength || !is_visible(edge, grid_.column_edges)) continue;
        svg_.line(column_x(edge.before), y_, column_x(edge.before), bottom, style);
      }
      for (const Edge& edge : grid_.row_edges) {
        if (edge.strength != strength || !is_visible(edge, grid_.row_edges)) continue;
        svg_.line(x_, row_y(edge.before), right, row_y(edge.before), style);
      }
    }
    svg_.rect({x_, y_, right - x_, bottom - y_}, "frame");
  }

  void ticks() {
    constexpr int kLineHeight = 10;
    const int middle = cell_ / 2;
    svg_.text(x_ - 6, y_ - 6, "tick row", grid_.row_title);
    svg_.text(column_x(grid_.columns) + 4, y_ - 6, "tick", grid_.column_title);
    int free_from = 0;
    for (const Tick& tick : grid_.column_ticks) {
      const int left = column_x(tick.at);
      if (left < free_from) continue;
      free_from = left + static_cast<int>(kLetter * static_cast<double>(tick.text.size() + 1));
      svg_.text(left + std::min(middle, 4), y_ - 6, "tick", tick.text);
    }
    free_from = 0;
    for (const Tick& tick : grid_.row_ticks) {
      const int y = row_y(tick.at) + std::min(middle + 4, kLineHeight);
      if (y < free_from) continue;
      free_from = y + kLineHeight;
      svg_.text(x_ - 6, y, "tick row", tick.text);
    }
  }

  Svg& svg_;
  const Grid& grid_;
  std::int64_t addresses_;
  int cell_;
  int x_;
  int y_;
};

/// Cut at commas and spaces into lines of at most `letters`.
std::vector<std::string> wrapped(std::string text, std::size_t letters) {
  std::vector<std::string> lines;
  while (text.size() > letters) {
    std::size_t end = text.find_last_of(", ", letters);
    if (end == std::string::npos || end == 0) end = letters - 1;
    lines.push_back(text.substr(0, end + 1));
    text.erase(0, end + 1);
  }
  lines.push_back(text);
  return lines;
}

/// Colour bar, then a swatch for each kind of cell that occurs. Returns its height.
int draw_legend(Svg& svg, const std::vector<Grid>& grids, const Subject& subject, int x, int y) {
  constexpr int kHeight = 14;
  constexpr int kLine = 22;
  for (int i = 0; i < kBarWidth; i += 2) svg.rect({x + i, y, 2, kHeight}, "pad", colour_of(i * (kShades - 1) / (kBarWidth - 1)));
  svg.rect({x, y, kBarWidth, kHeight}, "frame");
  svg.text(x + kBarWidth + 10, y + 11, "small", fmt::format("address 0 .. {}", subject.layout.cosize() - 1));
  int height = kLine;
  for (const KindRow& row : kKinds) {
    const auto occurs = [&](const Grid& grid) { return std::ranges::find(grid.cells, row.kind, &Cell::kind) != grid.cells.end(); };
    if (std::ranges::none_of(grids, occurs)) continue;
    svg.rect({x, y + height, 2 * kHeight, kHeight}, "pad", row.fill);
    svg.rect({x, y + height, 2 * kHeight, kHeight}, "frame");
    svg.text(x + 2 * kHeight + 10, y + height + 11, "small", row.legend);
    height += kLine;
  }
  return height;
}

std::vector<Grid> grids_of(const Subject& subject, const PictureOptions& options) {
  const std::optional<Tiles> tiles = tiles_of(subject);
  const bool labelled = subject.layout.cosize() <= kMostLabelled;
  std::vector<Grid> grids;
  if (options.panels != Panels::memory) grids.push_back(logical_grid(subject, tiles, labelled));
  if (options.panels != Panels::logical) grids.push_back(memory_grid(subject, tiles, options.line, labelled));
  return grids;
}

}  // namespace

Panels panels_named(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames{"both", "logical", "memory"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (same_name(kNames.at(i), name)) return static_cast<Panels>(i);
  }
  throw Error(ErrorCode::usage, unknown_name("view", name, kNames));
}

std::string draw(const Subject& subject, const PictureOptions& options) {
  constexpr int kLine = 16;
  const std::vector<Grid> grids = grids_of(subject, options);
  Size whole{0, 0};
  for (const Grid& grid : grids) {
    whole.width += panel_size(grid).width + kPanelGap;
    whole.height += panel_size(grid).height + kPanelGap;
  }
  const bool beside = whole.width <= kWidestPicture;
  int width = kNarrowest;
  for (const Grid& grid : grids) width = std::max(width, panel_size(grid).width);
  if (beside) width = std::max(width, whole.width);

  Svg svg;
  svg.define(kPatterns);
  const std::string name = name_of(subject.choice);
  const layout::Source& source = source_of(subject.choice);
  const auto letters = static_cast<std::size_t>(width / kLetter);
  int y = kMargin + 20;
  svg.text(kMargin, y, "title", name);
  for (const std::string& line : wrapped(choices_of(subject.choice), letters)) svg.text(kMargin, y += kLine, "small", line);
  y += kLine;
  int x = kMargin;
  int bottom = y;
  for (const Grid& grid : grids) {
    Panel(svg, grid, subject.layout.cosize(), x, y).draw();
    const Size size = panel_size(grid);
    bottom = std::max(bottom, y + size.height);
    if (beside)
      x += size.width + kPanelGap;
    else
      y = bottom + kPanelGap;
  }
  y = bottom + 20;
  y += draw_legend(svg, grids, subject, kMargin, y);
  const std::string from =
      fmt::format("{}: {} {} {} at {}", version_of(subject.choice), source.repository, source.path, source.symbol, source.commit);
  for (const std::string& line : wrapped(from, letters)) svg.text(kMargin, y += kLine, "tick", line);

  const int height = y + kMargin;
  width += 2 * kMargin;
  return svg.document(width, height, name, fmt::format("{}: which address holds which element", spec_of(subject.choice)), kStyle);
}

}  // namespace mx::golden
