// From the shape of a tensor to the matrices that its bytes may be.

#include <fmt/core.h>

#include <algorithm>

#include "model/error.hpp"
#include "verbs/layout/identify/identify.hpp"
#include "verbs/layout/shape.hpp"

namespace mx::verbs {
namespace {

void add(std::vector<MatrixShape>& matrices, const MatrixShape& matrix) {
  if (std::ranges::find(matrices, matrix) == matrices.end()) matrices.push_back(matrix);
}

/// A matrix of 8-bit units may hold two elements in each.
void add_both(std::vector<MatrixShape>& matrices, const MatrixShape& matrix) {
  add(matrices, matrix);
  if (matrix.unit_bits == 8) add(matrices, {matrix.batch, matrix.rows, 2 * matrix.cols, 4});
}

std::int64_t product(std::span<const std::int64_t> extents) {
  std::int64_t all = 1;
  for (std::int64_t extent : extents) all *= extent;
  return all;
}

/// Experts, rows, and the rest; two axes are a matrix or a row of experts, one axis a row.
std::vector<MatrixShape> from_tensor(std::span<const std::int64_t> shape, int bits) {
  std::vector<MatrixShape> matrices;
  if (shape.size() >= 3) add_both(matrices, {shape[0], shape[1], product(shape.subspan(2)), bits});
  if (shape.size() == 2) {
    add_both(matrices, {1, shape[0], shape[1], bits});
    add_both(matrices, {shape[0], shape[1], 1, bits});
  }
  if (shape.size() == 1) {
    add_both(matrices, {1, shape[0], 1, bits});
    add_both(matrices, {shape[0], 1, 1, bits});
  }
  return matrices;
}

}  // namespace

std::vector<MatrixShape> matrices_of(std::span<const std::int64_t> tensor_shape, int element_bits, std::size_t bytes, const std::string& shape,
                                     int unit_bits) {
  if (shape.empty()) {
    if (tensor_shape.empty()) throw Error(ErrorCode::usage, "raw bytes have no shape: say --shape BATCHxROWSxCOLS", "identify");
    const int bits = unit_bits != 0 ? unit_bits : element_bits;
    if (bits != element_bits) throw Error(ErrorCode::usage, "--unit-bits needs --shape, which counts such units", "identify");
    return from_tensor(tensor_shape, bits);
  }
  const auto [batch, rows, cols] = shape_from(shape, kMatrixShape);
  const auto bits = static_cast<std::int64_t>(bytes) * 8;
  const std::int64_t units = batch * rows * cols;
  if (bits % units != 0 || bits / units > 64) {
    throw Error(ErrorCode::usage, fmt::format("{} bytes are no {}x{}x{} units of whole bits", bytes, batch, rows, cols), "identify");
  }
  const int found = static_cast<int>(bits / units);
  if (unit_bits != 0 && unit_bits != found) {
    throw Error(ErrorCode::usage, fmt::format("{} bytes are {}x{}x{} units of {} bits, not of {}", bytes, batch, rows, cols, found, unit_bits),
                "identify");
  }
  std::vector<MatrixShape> matrices;
  if (unit_bits != 0)
    add(matrices, {batch, rows, cols, found});
  else
    add_both(matrices, {batch, rows, cols, found});
  return matrices;
}

}  // namespace mx::verbs
