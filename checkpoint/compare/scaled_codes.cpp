#include "checkpoint/compare/scaled_codes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "checkpoint/compare/matrix_values.hpp"
#include "checkpoint/source_memory.hpp"

namespace mx::checkpoint {
namespace {

constexpr std::string_view kWeightEnd = ".weight";
/// Behind the layer's name. Source: vllm fp8.py, modelopt.py and compressed_tensors_w8a8_fp8.py create_weights; DeepSeek-V4's inference/model.py.
constexpr std::array<std::string_view, 3> kScaleEnds{".weight_scale_inv", ".weight_scale", ".scale"};
constexpr std::int64_t kSquare = 128, kGroup = 32;

struct Blocks {
  std::int64_t rows;
  std::int64_t columns;
};
/// What a scale of such a shape counts for.
std::optional<Blocks> blocks_of(std::vector<std::int64_t> shape, std::int64_t rows, std::int64_t columns) {
  const auto in = [](std::int64_t extent, std::int64_t block) { return (extent + block - 1) / block; };
  if (std::ranges::all_of(shape, [](std::int64_t extent) { return extent == 1; }) && (rows > kSquare || columns > kSquare || shape.size() < 2))
    return Blocks{rows, columns};
  if (shape.size() == 4 && shape[1] == 1 && shape[3] == 1) shape = {shape[0], shape[2]};
  if (shape == std::vector{in(rows, kSquare), in(columns, kSquare)}) return Blocks{kSquare, kSquare};
  if (shape == std::vector{rows} || shape == std::vector{rows, std::int64_t{1}}) return Blocks{1, columns};
  if (columns % kGroup == 0 && shape == std::vector{rows, columns / kGroup}) return Blocks{1, kGroup};
  return std::nullopt;
}

}  // namespace

void ScaledCodes::read(std::int64_t first, std::span<double> out) const {
  read_codes(first, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t at = first * columns + static_cast<std::int64_t>(i);
    out[i] *= scale(at / columns / block_rows, at % columns / block_columns) * number;
  }
}

std::optional<ScaledCodes> dense_codes(const CheckpointFiles& files, std::string_view name) {
  const auto weight = files.tensors.find(name);
  if (weight == files.tensors.end() || !name.ends_with(kWeightEnd)) return std::nullopt;
  const support::TensorView& view = *weight->second.view;
  if (view.dtype->name != "F8_E4M3" || view.shape.size() != 2) return std::nullopt;
  for (const std::string_view end : kScaleEnds) {
    const auto scale = files.tensors.find(std::string(name.substr(0, name.size() - kWeightEnd.size())) + std::string(end));
    if (scale == files.tensors.end()) continue;
    const support::TensorView& of = *scale->second.view;
    const bool is_scale = is_plain(of.dtype->name) || widening_of(of.dtype->name, 32) != nullptr;
    const std::optional<Blocks> blocks = blocks_of(of.shape, view.shape[0], view.shape[1]);
    if (!is_scale || !blocks) continue;
    ScaledCodes codes{view.shape[0], view.shape[1], blocks->rows, blocks->columns, {}, 1, {}};
    const std::vector<std::uint8_t> bytes = scale->second.file->read(of);
    for (std::int64_t i = 0; i < codes.down() * codes.across(); ++i)
      codes.scales.push_back(static_cast<float>(plain_number(bytes, static_cast<std::size_t>(i), of.dtype->name)));
    codes.read_codes = [at = weight->second, columns = codes.columns](std::int64_t first, std::span<double> out) {
      std::vector<std::uint8_t> rows(out.size());
      at.file->read(*at.view, static_cast<std::uint64_t>(first * columns), rows);
      plain_numbers(rows, at.view->dtype->name, out);
    };
    return codes;
  }
  return std::nullopt;
}

}  // namespace mx::checkpoint
