#pragma once
// A layout as two grids of cells: the logical tensor, coloured by address, and memory, coloured by place in the tensor. One cell is one address.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verbs/layout/subject.hpp"

namespace mx::verbs {

enum class CellKind {
  element,
  zero,       ///< padding, written with 0
  neutral,    ///< padding, written with 0x7F
  unwritten,  ///< padding that holds anything
  cut,        ///< an element without an address
  same,       ///< of two layouts, what both hold
  outside,    ///< behind the end of memory
};
inline constexpr int kCellKinds = 7;

struct GridCell {
  CellKind kind;
  std::int64_t place;                ///< of an element: what the colour says, 0 .. Grid::places - 1
  std::array<std::string, 2> label;  ///< for inside the cell, at most two short lines
  std::string hover;
};

/// A line before a row or column. Strength 1..3, 3 the edge of the largest tile or of an expert.
struct Edge {
  std::int64_t before;
  int strength;
};

/// A word beside a row or above a column.
struct Tick {
  std::int64_t at;
  std::string text;
};

struct Grid {
  std::string title;
  std::string row_title;
  std::string column_title;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t places = 0;      ///< what the colours run over
  std::string places_text;      ///< what the colours mean: "tensor: address 0 .. 511"
  std::vector<GridCell> cells;  ///< row by row
  std::vector<Edge> row_edges;
  std::vector<Edge> column_edges;
  std::vector<Tick> row_ticks;
  std::vector<Tick> column_ticks;
};

/// What a picture has at most; a larger one could not be read.
inline constexpr std::int64_t kMostCells = std::int64_t{1} << 18;

/// The logical tensor: columns are its last axis (with the parts of an element, where it falls apart), rows all others. Labels only when `labelled`.
/// Throws Error(usage) above kMostCells.
Grid logical_grid(const Subject& subject, const std::optional<Tiles>& tiles, bool labelled);
/// A part of a tensor that is drawn alone.
struct TensorPart {
  layout::Coord fixed;     ///< of each axis its index, or -1: all of it
  std::int64_t first_row;  ///< of the axis before the last
  std::int64_t rows;
};
/// From "E=3,half=up", whose axes are any but the last, and "0-127", of the axis before the last; either may be empty. Throws Error(usage) on an axis
/// or an index that is not there, and for a tensor of one axis.
TensorPart part_from(const std::string& of, const std::string& rows, const layout::Layout& layout);
/// "E=3 half=up I=0-127".
std::string part_text(const TensorPart& part, const layout::Layout& layout);
std::int64_t elements_of(const TensorPart& part, const layout::Layout& layout);
/// The part as logical_grid shows the tensor; colours run over its own addresses. Throws as that does, and Error(usage) where elements repeat.
Grid part_grid(const Subject& subject, const TensorPart& part);

/// Memory in lines of `width` addresses, 0 for a width at which memory is neither very wide nor very tall. Throws as logical_grid does.
Grid memory_grid(const Subject& subject, const std::optional<Tiles>& tiles, std::int64_t width, bool labelled);

}  // namespace mx::verbs
