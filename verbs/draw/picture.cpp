#include "verbs/draw/picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"
#include "support/svg.hpp"
#include "verbs/draw/colours.hpp"
#include "verbs/draw/grid.hpp"
#include "verbs/draw/panel.hpp"
#include "verbs/layout/difference.hpp"

namespace mx::verbs {
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
    for (const Grid& grid : grids) text += (text.empty() || grid.places_text.empty() ? "" : "; ") + grid.places_text;
    svg.text(kMargin + kBarWidth + 10, y + kText, "small", text);
    y += kLine;
    for (const KindRow& row : kKinds) {
      const auto occurs = [&](const Grid& grid) { return std::ranges::find(grid.cells, row.kind, &GridCell::kind) != grid.cells.end(); };
      if (std::ranges::none_of(grids, occurs)) continue;
      svg.rect({kMargin, y, 2 * kHeight, kHeight}, "pad", row.fill);
      svg.rect({kMargin, y, 2 * kHeight, kHeight}, "frame");
      svg.text(kMargin + 2 * kHeight + 10, y + kText, "small", row.legend);
      y += kLine;
    }
  }

  support::Svg svg;
  int y = kMargin;

 private:
  int width_;
};

std::vector<Grid> grids_of(const Subject& subject, const PictureOptions& options) {
  if (options.is_part()) {
    if (options.panels == Panels::memory) throw Error(ErrorCode::usage, "of a part of the tensor no memory is drawn: --by logical", "draw");
    return {part_grid(subject, part_from(options.of, options.rows, subject.layout))};
  }
  const std::optional<Tiles> tiles = tiles_of(subject);
  const bool labelled = subject.layout.cosize() <= kMostLabelled;
  std::vector<Grid> grids;
  if (options.panels != Panels::memory) grids.push_back(logical_grid(subject, tiles, labelled));
  if (options.panels != Panels::logical) grids.push_back(memory_grid(subject, tiles, options.line, labelled));
  return grids;
}

/// Memory of both in lines of one length; cells that hold the same become one kind.
std::vector<Grid> grids_of_both(const Subject& a, const Subject& b) {
  const bool labelled = std::max(a.layout.cosize(), b.layout.cosize()) <= kMostLabelled;
  std::vector<Grid> grids{memory_grid(a, tiles_of(a), 0, labelled)};
  grids.push_back(memory_grid(b, tiles_of(b), grids.front().columns, labelled));
  // Cells of one size: the shorter memory ends before the picture does.
  const std::int64_t rows = std::max(grids[0].rows, grids[1].rows);
  for (Grid& grid : grids) {
    grid.rows = rows;
    grid.cells.resize(static_cast<std::size_t>(rows * grid.columns), {CellKind::outside, 0, {}, {}});
  }
  const auto is_same = [](const GridCell& one, const GridCell& other) { return one.kind == other.kind && one.place == other.place; };
  for (std::size_t i = 0; i < std::min(grids[0].cells.size(), grids[1].cells.size()); ++i) {
    if (grids[0].cells[i].kind == CellKind::outside || !is_same(grids[0].cells[i], grids[1].cells[i])) continue;
    for (Grid& grid : grids) grid.cells[i].kind = CellKind::same;
  }
  grids[0].title = "a: " + grids[0].title;
  grids[1].title = "b: " + grids[1].title;
  grids[1].places_text.clear();  // as that of the first
  return grids;
}

std::string source_text(const Subject& subject) {
  const layout::Source& source = source_of(subject.choice);
  return fmt::format("{}: {} {} {} at {}", version_of(subject.choice), source.repository, source.path, source.symbol, source.commit);
}

/// How much room grids take.
struct Room {
  int width;
  bool beside;
  /// Room at the right for the name of the columns.
  int picture() const { return width + 3 * kMargin; }
};

Room room_of(const std::vector<Grid>& grids) {
  int together = -kPanelGap;
  int widest = kNarrowest;
  for (const Grid& grid : grids) {
    const int width = shape_of(grid).width;
    together += width + kPanelGap;
    widest = std::max(widest, width);
  }
  const bool beside = together <= kWidestPicture;
  return {beside ? std::max(widest, together) : widest, beside};
}

}  // namespace

Panels panels_named(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames{"both", "logical", "memory"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (same_name(kNames.at(i), name)) return static_cast<Panels>(i);
  }
  throw Error(ErrorCode::usage, unknown_name("view", name, kNames));
}

std::string shown_text(const Subject& subject, const PictureOptions& options) {
  const layout::Layout& layout = subject.layout;
  if (!options.is_part()) return fmt::format("{} addresses of {} bits", layout.cosize(), layout.grain_bits());
  const TensorPart part = part_from(options.of, options.rows, layout);
  const std::int64_t elements = layout.size() * layout.grain_bits() / layout.unit_bits();
  return fmt::format("{}, {} of {} elements", part_text(part, layout), elements_of(part, layout), elements);
}

Figure draw(const Subject& subject, const PictureOptions& options) {
  const std::vector<Grid> grids = grids_of(subject, options);
  const Room room = room_of(grids);
  const std::string name = name_of(subject.choice);

  Page page(room.width);
  page.svg.text(kMargin, page.y += kTextLine, "title", name);
  page.lines("small", choices_of(subject.choice));
  page.y += kTextLine;
  page.panels(grids, room.beside);
  page.y += kTextLine;
  page.legend(grids);
  page.lines("tick", source_text(subject));
  const std::string description = fmt::format("{}: which address holds which element{}", spec_of(subject.choice),
                                              options.is_part() ? ", of the part " + shown_text(subject, options) : "");
  return {std::move(page.svg), room.picture(), page.y + kMargin, name, description, &kLayoutLook};
}

Figure draw_difference(const Subject& a, const Subject& b) {
  const LayoutDifference found = difference(a, b, 0);
  if (!found.values.empty()) throw Error(ErrorCode::usage, "they change values differently, and no address says how: " + found.values, "diff");
  if (a.layout.grain_bits() != b.layout.grain_bits()) {
    throw Error(ErrorCode::usage,
                fmt::format("one has addresses of {} bits and the other of {}: cells would not stand for the same", a.layout.grain_bits(),
                            b.layout.grain_bits()),
                "diff");
  }
  const std::vector<Grid> grids = grids_of_both(a, b);
  const Room room = room_of(grids);
  Page page(room.width);
  page.svg.text(kMargin, page.y += kTextLine, "title", "Where two layouts part");
  page.lines("small", "a: " + spec_of(a.choice));
  page.lines("small", "b: " + spec_of(b.choice));
  const std::string counted = found.differing == 0
                                  ? fmt::format("all {} addresses hold the same", found.addresses)
                                  : fmt::format("{} of {} addresses of {} bits differ", found.differing, found.addresses, found.grain_bits);
  page.lines("small", counted);
  page.y += kTextLine;
  page.panels(grids, room.beside);
  page.y += kTextLine;
  page.legend(grids);
  for (const Subject* one : {&a, &b}) page.lines("tick", source_text(*one));
  return {std::move(page.svg), room.picture(), page.y + kMargin, "mxact layout diff", counted, &kLayoutLook};
}

}  // namespace mx::verbs
