#pragma once
// One grid in a picture: head, ticks, cells, tile borders. A tall grid is folded into strips side by side.

#include <array>
#include <string_view>

#include "support/svg.hpp"
#include "verbs/draw/grid.hpp"

namespace mx::verbs {

/// How a cell without an element is filled, and what the legend says of it.
struct KindRow {
  CellKind kind;
  std::string_view fill;
  std::string_view legend;
};
inline constexpr std::array<KindRow, 5> kKinds{{
    {CellKind::zero, "url(#zero)", "padding, zero"},
    {CellKind::neutral, "url(#neutral)", "padding, 0x7f"},
    {CellKind::unwritten, "url(#unwritten)", "padding, never written"},
    {CellKind::cut, "url(#cut)", "element without an address"},
    {CellKind::same, "url(#same)", "the same in both"},
}};

/// In pixels and cells.
struct PanelShape {
  int cell;
  int strips;
  std::int64_t strip_rows;
  int strip_width;
  int width;
  int height;
};
/// The fewest strips whose cells are large enough for numbers, else those with the largest cells.
PanelShape shape_of(const Grid& grid);

void draw_panel(support::Svg& svg, const Grid& grid, int x, int y);

}  // namespace mx::verbs
