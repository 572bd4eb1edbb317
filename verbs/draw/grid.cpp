#include "verbs/draw/grid.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "verbs/layout/where.hpp"

namespace mx::verbs {
namespace {

using layout::Axis;
using layout::Digit;
using layout::Layout;

constexpr std::int64_t kWidestLine = 512;
constexpr std::int64_t kMostLabelled = 4096;

/// Grains along the last axis of the tensor: elements, times their parts.
std::int64_t columns_of(const Layout& layout) { return layout.axes_before(0).back().extent * (layout.unit_bits() / layout.grain_bits()); }

/// The options of a part that is small enough, with what is chosen already; nothing where not even a row is.
std::string part_advice(const Layout& layout, layout::Coord fixed) {
  constexpr std::int64_t kSomeRows = 128;
  const std::vector<Axis>& axes = layout.axes_before(0);
  const std::int64_t fitting = kMostCells / columns_of(layout);
  if (axes.size() < 2 || fitting == 0) return {};
  std::string of;
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
    const bool is_row = i + 2 == axes.size();
    if (fixed[i] < 0 && (is_row || axes[i].extent == 1)) continue;
    fixed[i] = std::max<std::int64_t>(fixed[i], 0);
    of += (of.empty() ? "" : ",") + layout::coord_text(std::span(axes).subspan(i, 1), std::span(fixed).subspan(i, 1));
  }
  const std::int64_t rows = std::min({fitting, kSomeRows, axes[axes.size() - 2].extent});
  const std::string some = fixed[axes.size() - 2] < 0 ? fmt::format("--rows 0-{}", rows - 1) : "";
  const bool both = !of.empty() && !some.empty();
  return fmt::format("; {}{}{} {} a part", of.empty() ? "" : "--of " + of, both ? " and " : "", some, both ? "draw" : "draws");
}

/// `fixed`: of each axis the index that is chosen, or -1.
void check_size(const Layout& layout, std::int64_t cells, const layout::Coord& fixed) {
  if (cells <= kMostCells) return;
  throw Error(ErrorCode::usage, fmt::format("{} addresses are too many for a picture: at most {}{}", cells, kMostCells, part_advice(layout, fixed)),
              "draw");
}

void check_size(const Layout& layout) {
  check_size(layout, std::max(layout.size(), layout.cosize()), layout::Coord(layout.axes_before(0).size(), -1));
}

CellKind kind_of(std::int64_t entry) {
  if (entry >= 0) return CellKind::element;
  if (entry == Layout::kPadZero) return CellKind::zero;
  return entry == Layout::kPadNeutral ? CellKind::neutral : CellKind::unwritten;
}

/// Distances at which tiles repeat, ascending, as lines: the largest strongest.
void add_edges(std::vector<Edge>& edges, std::vector<std::int64_t> distances, std::int64_t extent) {
  std::ranges::sort(distances);
  const auto repeated = std::ranges::unique(distances);
  distances.erase(repeated.begin(), repeated.end());
  std::erase_if(distances, [&](std::int64_t distance) { return distance < 2 || distance >= extent; });
  for (std::int64_t at = 1; at < extent; ++at) {
    int strength = 0;
    for (std::size_t i = 0; i < distances.size(); ++i) {
      if (at % distances[i] == 0) strength = i + 1 == distances.size() ? 2 : 1;
    }
    if (strength > 0) edges.push_back({at, strength});
  }
}

/// Weights of an axis's digits.
std::vector<std::int64_t> weights_of(const std::optional<Tiles>& tiles, std::size_t axis, std::int64_t factor) {
  std::vector<std::int64_t> weights;
  if (!tiles) return weights;
  for (const Digit& digit : tiles->digits) {
    if (static_cast<std::size_t>(digit.axis) == axis) weights.push_back(digit.weight * factor);
  }
  return weights;
}

/// A mark every 2^n positions, near `about` apart.
std::int64_t tick_distance(std::int64_t extent) {
  constexpr std::int64_t kMostTicks = 16;
  std::int64_t distance = 1;
  while (extent / distance > kMostTicks) distance *= 2;
  return distance;
}

/// "E=0 gate" for the outer indexes of a row, and the index of its own axis.
std::string outer_text(const std::vector<Axis>& axes, const layout::Coord& coord) {
  std::string text;
  for (std::size_t i = 0; i + 2 < axes.size(); ++i) {
    if (axes[i].extent > 1) text += (text.empty() ? "" : " ") + layout::coord_text(std::span(axes).subspan(i, 1), std::span(coord).subspan(i, 1));
  }
  return text;
}

void mark_rows(Grid& grid, const std::vector<Axis>& axes, const std::optional<Tiles>& tiles, std::int64_t first_row = 0) {
  const std::int64_t inner = axes.size() < 2 ? 1 : axes[axes.size() - 2].extent;
  std::vector<Edge> within;
  if (axes.size() >= 2) add_edges(within, weights_of(tiles, axes.size() - 2, 1), inner);
  const std::int64_t distance = tick_distance(inner);
  layout::Coord coord(axes.size(), 0);
  for (std::int64_t first = 0; first < grid.rows; first += inner) {
    if (first > 0) grid.row_edges.push_back({first, 3});
    for (const Edge& edge : within) grid.row_edges.push_back({first + edge.before, edge.strength});
    std::int64_t rest = first / inner;
    for (std::size_t i = axes.size() < 2 ? 0 : axes.size() - 2; i-- > 0;) {
      coord[i] = rest % axes[i].extent;
      rest /= axes[i].extent;
    }
    const std::string outer = outer_text(axes, coord);
    for (std::int64_t row = 0; row < inner; row += distance) {
      grid.row_ticks.push_back({first + row, row == 0 && !outer.empty() ? outer : std::to_string(first_row + row)});
    }
  }
}

std::string title_of(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name, axis.extent);
  return text;
}

/// A line of memory, of some of its fastest axes whole times a power of two, such that memory is about as wide as it is tall.
std::int64_t line_of(const Layout& layout) {
  const std::int64_t size = layout.cosize();
  const std::vector<Axis>& axes = layout.axes_before(layout.steps().size());
  const auto badness = [&](std::int64_t width) { return std::max(width, size / width) / std::min(width, size / width); };
  std::int64_t best = 1;
  std::int64_t whole = 1;
  for (std::size_t i = axes.size(); i-- > 0 && whole <= kWidestLine;) {
    for (std::int64_t width = whole; width <= kWidestLine && size % width == 0; width *= 2) {
      if (badness(width) < badness(best)) best = width;
    }
    whole *= axes[i].extent;
  }
  return best;
}

std::vector<GridCell> memory_cells(const Layout& layout, bool labelled) {
  const std::vector<std::int64_t> entries = layout.gather();
  const std::int64_t columns = columns_of(layout);
  std::vector<GridCell> cells;
  for (std::int64_t address = 0; address < layout.cosize(); ++address) {
    const std::int64_t entry = entries[static_cast<std::size_t>(address)];
    GridCell cell{kind_of(entry), entry < 0 ? 0 : entry, {}, {}};
    if (labelled) {
      const std::string what = entry < 0 ? padding_text(layout.inverse(address).content) : element_text(layout, entry);
      if (entry >= 0) cell.label = {std::to_string(entry / columns), std::to_string(entry % columns)};
      cell.hover = fmt::format("{}: {}", address_text(layout, address), what);
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

/// Strides of the digits that fall on whole lines, and those within one.
void mark_lines(Grid& grid, const std::optional<Tiles>& tiles) {
  std::vector<std::int64_t> within;
  std::vector<std::int64_t> lines;
  for (const Digit& digit : tiles ? tiles->digits : std::vector<Digit>{}) {
    if (digit.stride < grid.columns && grid.columns % digit.stride == 0) within.push_back(digit.stride);
    if (digit.stride > grid.columns && digit.stride % grid.columns == 0) lines.push_back(digit.stride / grid.columns);
  }
  add_edges(grid.column_edges, within, grid.columns);
  add_edges(grid.row_edges, lines, grid.rows);
  const std::int64_t line_distance = tick_distance(grid.rows);
  for (std::int64_t row = 0; row < grid.rows; row += line_distance) grid.row_ticks.push_back({row, std::to_string(row * grid.columns)});
  const std::int64_t distance = tick_distance(grid.columns);
  for (std::int64_t column = 0; column < grid.columns; column += distance) grid.column_ticks.push_back({column, std::to_string(column)});
}

}  // namespace

Grid logical_grid(const Subject& subject, const std::optional<Tiles>& tiles, bool labelled) {
  const Layout& layout = subject.layout;
  check_size(layout);
  const std::vector<Axis>& axes = layout.axes_before(0);
  const std::int64_t parts = layout.unit_bits() / layout.grain_bits();
  Grid grid;
  grid.columns = columns_of(layout);
  grid.rows = layout.size() / grid.columns;
  grid.title = fmt::format("tensor [{}]", title_of(axes));
  grid.row_title = axes.size() < 2 ? "" : axes[axes.size() - 2].name;
  grid.column_title = axes.back().name;
  grid.cells.assign(static_cast<std::size_t>(layout.size()), {CellKind::cut, 0, {}, labelled ? "cut off: no address" : ""});
  const std::vector<std::int64_t> entries = layout.gather();
  for (std::int64_t address = 0; address < layout.cosize(); ++address) {
    const std::int64_t entry = entries[static_cast<std::size_t>(address)];
    if (entry < 0) continue;
    GridCell& cell = grid.cells[static_cast<std::size_t>(entry)];
    if (cell.kind == CellKind::element) continue;
    cell = {CellKind::element, address, {}, {}};
    // Padding behind the last element would only make the tensor dark.
    grid.places = address + 1;
    if (!labelled) continue;
    cell.label = {std::to_string(address), {}};
    cell.hover = fmt::format("{}: {}", element_text(layout, entry), address_text(layout, address));
  }
  grid.places_text = fmt::format("tensor: address 0 .. {}", grid.places - 1);
  mark_rows(grid, axes, tiles);
  add_edges(grid.column_edges, weights_of(tiles, axes.size() - 1, parts), grid.columns);
  const std::int64_t distance = tick_distance(axes.back().extent);
  for (std::int64_t column = 0; column < axes.back().extent; column += distance)
    grid.column_ticks.push_back({column * parts, std::to_string(column)});
  return grid;
}

TensorPart part_from(const std::string& of, const std::string& rows, const Layout& layout) {
  const std::vector<Axis>& axes = layout.axes_before(0);
  if (axes.size() < 2) throw Error(ErrorCode::usage, "the tensor has one axis, and no rows", "draw");
  const Axis& axis = axes[axes.size() - 2];
  TensorPart part{named_indexes(of, layout), 0, axis.extent};
  if (part.fixed.back() >= 0)
    throw Error(ErrorCode::usage, fmt::format("axis {} is that of the columns, which are drawn whole", axes.back().name), "--of");
  if (rows.empty()) return part;
  if (part.fixed[axes.size() - 2] >= 0) throw Error(ErrorCode::usage, fmt::format("--of and --rows both say {}", axis.name), "draw");
  const std::size_t dash = rows.find('-');
  part.first_row = families::whole_number("--rows", rows.substr(0, dash), 0, axis.extent - 1);
  part.rows = 1;
  if (dash != std::string::npos)
    part.rows = families::whole_number("--rows", rows.substr(dash + 1), part.first_row, axis.extent - 1) - part.first_row + 1;
  return part;
}

std::string part_text(const TensorPart& part, const Layout& layout) {
  const std::vector<Axis>& axes = layout.axes_before(0);
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string space = text.empty() ? "" : " ";
    if (part.fixed[i] >= 0)
      text += space + layout::coord_text(std::span(axes).subspan(i, 1), std::span(part.fixed).subspan(i, 1));
    else if (i + 2 == axes.size() && part.rows < axes[i].extent)
      text += fmt::format("{}{}={}-{}", space, axes[i].name, part.first_row, part.first_row + part.rows - 1);
  }
  return text.empty() ? "all of it" : text;
}

std::int64_t elements_of(const TensorPart& part, const Layout& layout) {
  const std::vector<Axis>& axes = layout.axes_before(0);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) elements *= part.fixed[i] >= 0 ? 1 : i + 2 == axes.size() ? part.rows : axes[i].extent;
  return elements;
}

Grid part_grid(const Subject& subject, const TensorPart& part) {
  const Layout& layout = subject.layout;
  if (layout.repeats()) throw Error(ErrorCode::usage, "elements lie in several places: no part of the tensor is drawn", "draw");
  const std::vector<Axis>& axes = layout.axes_before(0);
  const std::size_t row_axis = axes.size() - 2;
  std::vector<Axis> shown = axes;
  layout::Coord first(axes.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (part.fixed[i] < 0) continue;
    first[i] = part.fixed[i];
    shown[i].extent = 1;
  }
  if (part.fixed[row_axis] < 0) {
    first[row_axis] = part.first_row;
    shown[row_axis].extent = part.rows;
  }
  const std::int64_t parts = layout.unit_bits() / layout.grain_bits();
  Grid grid;
  grid.columns = columns_of(layout);
  grid.rows = 1;
  for (std::size_t i = 0; i <= row_axis; ++i) grid.rows *= shown[i].extent;
  check_size(layout, grid.rows * grid.columns, part.fixed);
  grid.title = fmt::format("tensor [{}], {}", title_of(axes), part_text(part, layout));
  grid.row_title = axes[row_axis].name;
  grid.column_title = axes.back().name;
  const bool labelled = grid.rows * grid.columns <= kMostLabelled;
  std::int64_t lowest = layout.cosize(), highest = -1;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    layout::Coord coord = first;
    std::int64_t rest = row, entry = 0;
    for (std::size_t i = row_axis + 1; i-- > 0;) {
      coord[i] += rest % shown[i].extent;
      rest /= shown[i].extent;
    }
    for (std::size_t i = 0; i < axes.size(); ++i) entry = entry * axes[i].extent + coord[i];
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const std::optional<std::int64_t> address = address_of(layout, entry * parts + column);
      grid.cells.push_back({address ? CellKind::element : CellKind::cut, address.value_or(0), {}, labelled && !address ? "cut off: no address" : ""});
      if (!address) continue;
      lowest = std::min(lowest, *address);
      highest = std::max(highest, *address);
      if (!labelled) continue;
      grid.cells.back().label = {std::to_string(*address), {}};
      grid.cells.back().hover = fmt::format("{}: {}", element_text(layout, entry * parts + column), address_text(layout, *address));
    }
  }
  for (GridCell& cell : grid.cells) cell.place = cell.kind == CellKind::element ? cell.place - lowest : 0;
  grid.places = std::max<std::int64_t>(highest - lowest + 1, 1);
  grid.places_text = fmt::format("tensor: address {} .. {}", lowest, highest);
  mark_rows(grid, shown, std::nullopt, first[row_axis]);
  const std::int64_t distance = tick_distance(axes.back().extent);
  for (std::int64_t column = 0; column < axes.back().extent; column += distance)
    grid.column_ticks.push_back({column * parts, std::to_string(column)});
  return grid;
}

Grid memory_grid(const Subject& subject, const std::optional<Tiles>& tiles, std::int64_t width, bool labelled) {
  const Layout& layout = subject.layout;
  check_size(layout);
  const std::int64_t size = layout.cosize();
  Grid grid;
  grid.columns = std::min(width == 0 ? line_of(layout) : width, size);
  grid.rows = (size + grid.columns - 1) / grid.columns;
  grid.title = fmt::format("memory, {} addresses of {} bit{}", size, layout.grain_bits(), layout.grain_bits() == 1 ? "" : "s");
  grid.row_title = "address";
  grid.column_title = "+";
  grid.places = layout.size();
  grid.places_text = fmt::format("memory: element 0 .. {}, row by row", layout.size() - 1);
  grid.cells = memory_cells(layout, labelled);
  grid.cells.resize(static_cast<std::size_t>(grid.rows * grid.columns), {CellKind::outside, 0, {}, {}});
  mark_lines(grid, tiles);
  return grid;
}

}  // namespace mx::verbs
