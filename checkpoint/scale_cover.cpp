#include "checkpoint/scale_cover.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "checkpoint/form_search.hpp"

namespace mx::checkpoint {
namespace {

std::int64_t count_of(const FoundTensor& scale) {
  const std::vector<std::int64_t>& shape = scale.at->view->shape;
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// A square of a matrix as it lies in the file, whichever of its axes are its rows; experts are the outermost axis.
std::vector<CodeRun> square(std::int64_t at, const support::TensorView& weight) {
  constexpr std::int64_t kSquare = 128;
  const std::size_t axes = weight.shape.size();
  const std::int64_t rows = weight.shape[axes - 2], columns = weight.shape[axes - 1];
  const std::int64_t across = (columns + kSquare - 1) / kSquare, down = (rows + kSquare - 1) / kSquare;
  const std::int64_t before = at / (across * down) * rows, first_row = at / across % down * kSquare, first = at % across * kSquare;
  std::vector<CodeRun> runs;
  for (std::int64_t row = first_row; row < std::min(rows, first_row + kSquare); ++row)
    runs.push_back({(before + row) * columns + first, std::min(kSquare, columns - first)});
  return runs;
}

/// A column of a group of rows, which are inputs.
std::vector<CodeRun> column(std::int64_t at, std::int64_t scales, const support::TensorView& weight) {
  const std::int64_t rows = weight.shape[1], across = weight.shape[2], groups = scales / (weight.shape[0] * across), run = rows / groups;
  const std::int64_t first = at / across / groups * rows + at / across % groups * run;
  std::vector<CodeRun> runs;
  for (std::int64_t row = first; row < first + run; ++row) runs.push_back({row * across + at % across, 1});
  return runs;
}

}  // namespace

std::vector<CodeRun> covered_runs(const SourceForm& form, const FoundTensor& scale, std::int64_t at, const FoundTensor& weight) {
  const support::TensorView& view = *weight.at->view;
  if (in_squares(*scale.row)) return square(at, view);
  if (form.input_major && !scale.row->shapes.empty()) return column(at, count_of(scale), view);
  const std::int64_t run = static_cast<std::int64_t>(view.bytes.size()) / count_of(scale);
  return {{at * run, run}};
}

}  // namespace mx::checkpoint
