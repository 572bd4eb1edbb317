#include "golden/quantize/quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "model/layout/backend.hpp"
#include "model/names.hpp"

namespace mx::golden {
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

}  // namespace

QuantizedMatrix quantize_matrix(std::span<const std::uint32_t> values, const QuantizeRequest& request) {
  const Recipe& how = recipe(*request.profile, *request.format);
  const auto count = static_cast<std::int64_t>(values.size());
  if (count == 0 || count % request.rows != 0) throw Error(ErrorCode::usage, fmt::format("{} values are no {} whole rows", count, request.rows));
  const std::int64_t columns = count / request.rows;
  QuantizedMatrix matrix{request.rows, block_of(request, columns), {}, find_dequantizer(*request.profile, *request.format, kF32), {}};
  if (columns % matrix.block != 0) {
    const std::string rows = request.rows == 1 ? fmt::format("{} values are", count) : fmt::format("rows of {} values are", columns);
    throw Error(ErrorCode::usage, fmt::format("{} no whole blocks: {} has blocks of {}", rows, request.format->name, matrix.block));
  }
  const auto size = static_cast<std::size_t>(matrix.block);
  for (std::size_t begin = 0; begin < values.size(); begin += size) {
    const auto part = values.subspan(begin, size);
    if (gives_codes(how)) {
      matrix.blocks.push_back(quantize_block(part, *request.source, how, request.tensor));
    } else {
      matrix.blocks.push_back({block_scale(part, *request.source, how, request.tensor), {}});
    }
    dequantize_block(matrix.blocks.back(), request, matrix);
  }
  return matrix;
}

std::span<const ScaleLayout> all_scale_layouts() { return kScaleLayouts; }

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
  if (layout.stage.empty()) return scales;
  std::vector<std::uint32_t> placed;
  for (const std::int64_t from : layout::stage_layout(layout.stage, 1, matrix.rows, matrix.blocks_of_a_row(), format.scale->width).gather()) {
    placed.push_back(from < 0 ? 0 : scales[static_cast<std::size_t>(from)]);
  }
  return placed;
}

}  // namespace mx::golden
