// Rows of forms against the shapes of tensors.

#include <algorithm>

#include "checkpoint/form_search.hpp"

namespace mx::checkpoint {
namespace {

/// As many rows or columns as a matrix of these sizes has on an axis; elements of fewer than 8 bits are counted in the shape, or their bytes are.
std::int64_t extent_of(Extent extent, const MatrixSizes& sizes, int bits, std::int64_t group) {
  constexpr std::int64_t kSide = 128;
  const std::int64_t packed = bits < 8 ? 1 : 2;
  switch (extent) {
    case Extent::experts: return sizes.experts;
    case Extent::rows: return sizes.rows;
    case Extent::columns: return sizes.columns;
    case Extent::packed_columns: return sizes.columns / packed;
    case Extent::word_columns: return sizes.columns / 8;
    case Extent::six_bit_columns: return sizes.columns / 4 * 3;
    case Extent::groups: return sizes.columns / group;
    case Extent::bytes_of_group: return group / packed;
    case Extent::blocks_of_rows: return (sizes.rows + kSide - 1) / kSide;
    case Extent::blocks_of_columns: return (sizes.columns + kSide - 1) / kSide;
    case Extent::one: return 1;
    case Extent::two: return 2;
  }
  return 0;
}

}  // namespace

std::vector<std::int64_t> shape_of(const ShapeRow& row, const MatrixSizes& sizes, int bits, std::int64_t group) {
  std::vector<std::int64_t> shape;
  for (const Extent extent : row.extents) shape.push_back(extent_of(extent, sizes, bits, group));
  return shape;
}

std::optional<MatrixSizes> matrix_of(const TensorRow& row, const support::TensorView& view, std::int64_t group) {
  const std::int64_t packed = view.dtype->bits < 8 ? 1 : 2;
  for (const ShapeRow& shape : row.shapes) {
    if (shape.extents.size() != view.shape.size() || std::ranges::any_of(view.shape, [](std::int64_t extent) { return extent <= 0; })) continue;
    MatrixSizes sizes;
    bool fits = true;
    for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
      const std::int64_t extent = view.shape[axis];
      switch (shape.extents[axis]) {
        case Extent::experts: sizes.experts = extent; break;
        case Extent::rows: sizes.rows = extent; break;
        case Extent::columns: sizes.columns = extent; break;
        case Extent::packed_columns: sizes.columns = packed * extent; break;
        case Extent::word_columns: sizes.columns = 8 * extent; break;
        case Extent::six_bit_columns:
          sizes.columns = extent / 3 * 4;
          fits = fits && extent % 3 == 0;
          break;
        case Extent::groups: sizes.columns = group * extent; break;
        default: fits = fits && extent == extent_of(shape.extents[axis], sizes, view.dtype->bits, group);
      }
    }
    if (fits) return sizes;
  }
  return std::nullopt;
}

bool is_number(const support::TensorView& view, std::int64_t experts) {
  const auto is_one = [](std::int64_t extent) { return extent == 1; };
  if (view.shape.size() <= 2 && std::ranges::all_of(view.shape, is_one)) return true;
  return !view.shape.empty() && view.shape.size() <= 3 && view.shape.front() == experts &&
         std::ranges::all_of(view.shape.begin() + 1, view.shape.end(), is_one);
}

bool in_squares(const TensorRow& row) {
  return std::ranges::any_of(row.shapes,
                             [](const ShapeRow& shape) { return std::ranges::find(shape.extents, Extent::blocks_of_rows) != shape.extents.end(); });
}

const TensorRow* find_row(const SourceForm& form, std::string_view suffix) {
  const auto row =
      std::ranges::find_if(form.tensors, [&](const TensorRow& one) { return std::ranges::find(one.suffixes, suffix) != one.suffixes.end(); });
  return row == form.tensors.end() ? nullptr : &*row;
}

std::int64_t group_of(const SourceForm& form) { return form.converts() ? std::max<std::int64_t>(layout::group_of(form.form.format), 1) : 1; }

}  // namespace mx::checkpoint
