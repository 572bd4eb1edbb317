#pragma once
// Views of one table of vectors: for $readmemh, for $fscanf, for spreadsheets, for Python. Each is written from the table and read back into it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"

namespace mx::golden {

/// A table: columns and, row by row, the lanes of each.
struct VectorTable {
  std::string header;  ///< lines that begin with "//"
  std::vector<Column> columns;
  std::vector<std::uint32_t> lanes;

  std::size_t row_lanes() const { return lane_count(columns); }
  std::size_t rows() const { return lanes.size() / row_lanes(); }
};

using FileBytes = std::vector<std::uint8_t>;

/// A file format.
struct VectorView {
  std::string_view extension;  ///< "hex"
  std::string_view summary;
  FileBytes (*write)(const VectorTable& table);
  /// Lanes of a file with these columns. Throws Error(input) that names the place and what is wrong there.
  std::vector<std::uint32_t> (*read)(std::span<const std::uint8_t> bytes, const std::vector<Column>& columns, const std::string& where);
};
std::span<const VectorView> all_vector_views();
/// Throws Error(usage) with the nearest name.
const VectorView& vector_view_named(std::string_view extension);

}  // namespace mx::golden
