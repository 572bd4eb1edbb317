// Blocks by the model itself: what no kernel knows, and what kernels leave.

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/codec/quantize_job.hpp"
#include "kernels/little_endian.hpp"
#include "kernels/pieces.hpp"

namespace mx::kernels {
namespace {

template <class Word>
std::uint32_t word_at(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

std::uint32_t element_at(const QuantizeJob& job, std::size_t i) {
  const std::byte* const from = job.elements.bytes.data() + i * job.words;
  return job.words == 2 ? word_at<std::uint16_t>(from) : word_at<std::uint32_t>(from);
}

void put_code(const QuantizeJob& job, std::size_t i, std::uint32_t code) {
  if (job.code_bits == 8) {
    job.out.codes[i] = static_cast<std::uint8_t>(code);
    return;
  }
  const unsigned shift = i % 2 * 4;
  std::uint8_t& byte = job.out.codes[i / 2];
  byte = static_cast<std::uint8_t>((byte & ~(0xFU << shift)) | code << shift);
}

}  // namespace

void put_scale(const QuantizeJob& job, std::size_t block, std::uint32_t scale) {
  const std::size_t at = job.tiles.at(block / job.grid.cols, block % job.grid.cols);
  if (job.scale_width == 4) return store_little_endian(job.out.scales.data() + at * 4, scale);
  job.out.scales[at] = static_cast<std::uint8_t>(scale);
}

void put_scales(const QuantizeJob& job, std::size_t first, std::span<const std::uint32_t> scales) {
  if (job.scale_width == 4) {  // row-major: tiles are for bytes
    for (std::size_t i = 0; i < scales.size(); ++i) store_little_endian(job.out.scales.data() + (first + i) * 4, scales[i]);
    return;
  }
  if (job.tiles.is_row_major()) {
    std::uint8_t* const to = job.out.scales.data() + first;
    for (std::size_t i = 0; i < scales.size(); ++i) to[i] = static_cast<std::uint8_t>(scales[i]);
    return;
  }
  for (std::size_t i = 0; i < scales.size();) {
    const std::size_t col = (first + i) % job.grid.cols;
    const std::size_t run = std::min(job.grid.cols - col, scales.size() - i);
    std::uint8_t* const row = job.out.scales.data() + job.tiles.row_start((first + i) / job.grid.cols);
    for (std::size_t j = 0; j < run; ++j) row[job.tiles.col_offset(col + j)] = static_cast<std::uint8_t>(scales[i + j]);
    i += run;
  }
}

void quantize_by_model(const QuantizeJob& job, std::size_t block) {
  const BlockGrid& grid = job.grid;
  const std::size_t first = block / grid.cols * grid.block_rows * job.shape.cols + block % grid.cols * grid.block_cols;
  std::vector<std::uint32_t> x;
  x.reserve(grid.block_rows * grid.block_cols);
  const auto each = [&](const auto& visit) {
    for (std::size_t row = 0; row < grid.block_rows; ++row) {
      for (std::size_t col = 0; col < grid.block_cols; ++col) visit(first + row * job.shape.cols + col);
    }
  };
  each([&](std::size_t i) { x.push_back(element_at(job, i)); });
  const QuantizedBlock quantized = quantize_block(x, *job.elements.format, job.recipe, job.tensor);
  auto code = quantized.codes.begin();
  each([&](std::size_t i) { put_code(job, i, *code++); });
  put_scale(job, block, quantized.scale);
}

void quantize_by_model(const QuantizeJob& job, const Workers& workers) {
  const std::size_t blocks = job.grid.count();
  const std::size_t at_a_time = blocks_at_a_time(job.grid);
  for_each_piece((blocks + at_a_time - 1) / at_a_time, workers.threads, [&](std::size_t piece) {
    for (std::size_t b = piece * at_a_time; b < std::min(blocks, (piece + 1) * at_a_time); ++b) quantize_by_model(job, b);
  });
}

}  // namespace mx::kernels
