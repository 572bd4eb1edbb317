#include "verbs/quantize/quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"
#include "model/names.hpp"

namespace mx::verbs {
namespace {

constexpr std::array<ScaleLayout, 3> kScaleLayouts{{{"linear", ""}, {"128x4", "sf_128x4"}, {"8x4", "sf_8x4"}}};

/// Elements that share a scale in rows of `columns`.
std::int64_t block_of(const QuantizeRequest& request, std::int64_t columns) {
  const BlockFormat& format = *request.format;
  if (format.block == 0) return request.block.value_or(columns);
  if (!request.block || *request.block == format.block) return format.block;
  throw Error(ErrorCode::usage, fmt::format("blocks of {}: {} has blocks of {}", *request.block, format.name, format.block));
}

/// What the dequantizer takes of the tensor's scales.
TensorScale taken_by(const Dequantizer& how, const TensorScale& tensor) {
  TensorScale taken;
  if (how.tensor == TensorUse::divides_scale) taken.encode = tensor.encode;
  if (how.tensor == TensorUse::multiplies_scale) taken.decode = tensor.decode;
  return taken;
}

void dequantize_block(const QuantizedBlock& block, const QuantizeRequest& request, QuantizedMatrix& matrix) {
  for (std::uint32_t code : block.codes) {
    matrix.dequantized.push_back(matrix.dequantizer == nullptr
                                     ? dequantize(code, block.scale, *request.format)
                                     : dequantize(code, block.scale, *matrix.dequantizer, taken_by(*matrix.dequantizer, request.tensor)));
  }
}

/// Rows of `columns` values are whole blocks.
void require_whole_blocks(const QuantizedMatrix& matrix, const BlockFormat& format) {
  if (matrix.rows % matrix.block_rows == 0 && matrix.columns % matrix.block_columns() == 0) return;
  if (matrix.block_rows > 1) {
    throw Error(ErrorCode::usage, fmt::format("a matrix of {}x{} is no whole tiles: {} has tiles of {}x{}", matrix.rows, matrix.columns, format.name,
                                              matrix.block_rows, matrix.block_columns()));
  }
  const std::string rows = matrix.rows == 1 ? fmt::format("{} values are", matrix.columns) : fmt::format("rows of {} values are", matrix.columns);
  throw Error(ErrorCode::usage, fmt::format("{} no whole blocks: {} has blocks of {}", rows, format.name, matrix.block));
}

}  // namespace

QuantizedMatrix::Place QuantizedMatrix::place(std::size_t block_index, std::size_t i) const {
  const auto b = static_cast<std::int64_t>(block_index);
  const auto element = static_cast<std::int64_t>(i);
  return {b / blocks_of_a_row() * block_rows + element / block_columns(), b % blocks_of_a_row() * block_columns() + element % block_columns()};
}

std::size_t QuantizedMatrix::index(std::size_t block_index, std::size_t i) const {
  const Place at = place(block_index, i);
  return static_cast<std::size_t>(at.row * columns + at.column);
}

QuantizedMatrix quantize_matrix(std::span<const std::uint32_t> values, const QuantizeRequest& request) {
  const Recipe& how = recipe(*request.profile, *request.format, *request.source);
  const auto count = static_cast<std::int64_t>(values.size());
  if (count == 0 || count % request.rows != 0) throw Error(ErrorCode::usage, fmt::format("{} values are no {} whole rows", count, request.rows));
  const std::int64_t columns = count / request.rows;
  QuantizedMatrix matrix{.rows = request.rows,
                         .columns = columns,
                         .block = block_of(request, columns),
                         .block_rows = request.format->block_rows,
                         .blocks = {},
                         .dequantizer = find_dequantizer(*request.profile, *request.format, kF32),
                         .dequantized = {}};
  require_whole_blocks(matrix, *request.format);
  std::vector<std::uint32_t> part(static_cast<std::size_t>(matrix.block));
  for (std::size_t b = 0; b < values.size() / part.size(); ++b) {
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = values[matrix.index(b, i)];
    if (gives_codes(how)) {
      matrix.blocks.push_back(quantize_block(part, *request.source, how, request.tensor));
    } else {
      matrix.blocks.push_back({block_scale(part, *request.source, how, request.tensor), {}, {}});
    }
    dequantize_block(matrix.blocks.back(), request, matrix);
  }
  return matrix;
}

const ScaleLayout& scale_layout_named(std::string_view name) {
  const auto row = std::ranges::find_if(kScaleLayouts, [&](const ScaleLayout& layout) { return same_name(layout.name, name); });
  if (row != kScaleLayouts.end()) return *row;
  std::vector<std::string_view> known;
  for (const ScaleLayout& layout : kScaleLayouts) known.push_back(layout.name);
  throw Error(ErrorCode::usage, unknown_name("scale layout", name, known));
}

std::vector<std::uint32_t> scales_in(const ScaleLayout& layout, const QuantizedMatrix& matrix, const BlockFormat& format) {
  std::vector<std::uint32_t> scales;
  for (const QuantizedBlock& block : matrix.blocks) scales.push_back(block.scale);
  if (layout.block.empty()) return scales;
  std::vector<std::uint32_t> placed;
  for (const std::int64_t from :
       families::block_layout(layout.block, 1, matrix.rows_of_blocks(), matrix.blocks_of_a_row(), format.scale->width).gather()) {
    placed.push_back(from < 0 ? 0 : scales[static_cast<std::size_t>(from)]);
  }
  return placed;
}

}  // namespace mx::verbs
