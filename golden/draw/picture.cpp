#include "golden/draw/picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "golden/draw/colours.hpp"
#include "golden/draw/grid.hpp"
#include "golden/draw/panel.hpp"
#include "golden/draw/svg.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::golden {
namespace {

constexpr int kMargin = 28;
constexpr int kPanelGap = 36;
constexpr int kWidestPicture = 1900;
constexpr int kNarrowest = 640;
constexpr int kTextLine = 16;
constexpr std::int64_t kMostLabelled = 4096;
constexpr double kLetter = 6.7;  // width of a letter of the small text

/// Cut behind commas and spaces into lines of at most `letters`.
std::vector<std::string> wrapped(std::string text, std::size_t letters) {
  std::vector<std::string> lines;
  while (text.size() > letters) {
    std::size_t end = text.find_last_of(", ", letters - 1);
    if (end == std::string::npos || end == 0) end = letters - 1;
    lines.push_back(text.substr(0, end + 1));
    text.erase(0, end + 1);
  }
  lines.push_back(text);
  return lines;
}

/// A picture that grows downwards.
class Page {
 public:
  explicit Page(int width) : width_(width) {}

  void lines(std::string_view style, const std::string& text) {
    for (const std::string& line : wrapped(text, static_cast<std::size_t>(width_ / kLetter))) svg.text(kMargin, y += kTextLine, style, line);
  }

  /// Side by side where there is room, else one below the other.
  void panels(const std::vector<Grid>& grids, bool beside) {
    int x = kMargin;
    int bottom = y;
    for (const Grid& grid : grids) {
      draw_panel(svg, grid, x, y);
      const PanelShape shape = shape_of(grid);
      bottom = std::max(bottom, y + shape.height);
      if (beside)
        x += shape.width + kPanelGap;
      else
        y = bottom + kPanelGap;
    }
    y = bottom;
  }

  /// Colour bar, then a swatch for each kind of cell that occurs.
  void legend(const std::vector<Grid>& grids) {
    constexpr int kBarWidth = 256;
    constexpr int kHeight = 14;
    constexpr int kLine = 22;
    constexpr int kText = 11;  // from the top of a swatch to the foot of its letters
    for (int i = 0; i < kBarWidth; i += 2) svg.rect({kMargin + i, y, 2, kHeight}, "pad", colour_of(i * (kShades - 1) / (kBarWidth - 1)));
    svg.rect({kMargin, y, kBarWidth, kHeight}, "frame");
    std::string text;
    for (const Grid& grid : grids) text += (text.empty() ? "" : "; ") + grid.places_text;
    svg.text(kMargin + kBarWidth + 10, y + kText, "small", text);
    y += kLine;
    for (const KindRow& row : kKinds) {
      const auto occurs = [&](const Grid& grid) { return std::ranges::find(grid.cells, row.kind, &Cell::kind) != grid.cells.end(); };
      if (std::ranges::none_of(grids, occurs)) continue;
      svg.rect({kMargin, y, 2 * kHeight, kHeight}, "pad", row.fill);
      svg.rect({kMargin, y, 2 * kHeight, kHeight}, "frame");
      svg.text(kMargin + 2 * kHeight + 10, y + kText, "small", row.legend);
      y += kLine;
    }
  }

  Svg svg;
  int y = kMargin;

 private:
  int width_;
};

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

Figure draw(const Subject& subject, const PictureOptions& options) {
  const std::vector<Grid> grids = grids_of(subject, options);
  int together = -kPanelGap;
  int widest = kNarrowest;
  for (const Grid& grid : grids) {
    const int width = shape_of(grid).width;
    together += width + kPanelGap;
    widest = std::max(widest, width);
  }
  const bool beside = together <= kWidestPicture;
  const int width = beside ? std::max(widest, together) : widest;
  const std::string name = name_of(subject.choice);
  const layout::Source& source = source_of(subject.choice);

  Page page(width);
  page.svg.text(kMargin, page.y += kTextLine, "title", name);
  page.lines("small", choices_of(subject.choice));
  page.y += kTextLine;
  page.panels(grids, beside);
  page.y += kTextLine;
  page.legend(grids);
  page.lines("tick", fmt::format("{}: {} {} {} at {}", version_of(subject.choice), source.repository, source.path, source.symbol, source.commit));
  const std::string description = fmt::format("{}: which address holds which element", spec_of(subject.choice));
  // Room at the right for the name of the columns.
  return {std::move(page.svg), width + 3 * kMargin, page.y + kMargin, name, description, &kLayoutLook};
}

}  // namespace mx::golden
