// Dequantization of matrices: the checks, and who does the work.

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "kernels/codec/dequantize_job.hpp"
#include "kernels/little_endian.hpp"
#include "kernels/pieces.hpp"
#include "model/error.hpp"

namespace mx::kernels {
namespace {

/// Results of this many bytes do not stay in the caches anyway.
constexpr std::size_t kStreamFrom = std::size_t{4} << 20;

std::uint32_t code_at(const DequantizeJob& job, std::size_t i) {
  if (job.how.format->element->width == 4) return std::uint32_t{job.blocks.codes[i / 2]} >> (i % 2 * 4) & 0xFU;
  return job.blocks.codes[i] & ((1U << job.how.format->element->width) - 1U);
}

template <class Word>
void put_word(std::byte* to, std::uint32_t number) {
  const auto word = static_cast<Word>(number);
  std::memcpy(to, &word, sizeof word);
}

void put_number(const DequantizeJob& job, std::size_t i, std::uint32_t number) {
  std::byte* const to = job.out.bytes.data() + i * job.words;
  if (job.words == 2) return put_word<std::uint16_t>(to, number);
  put_word<std::uint32_t>(to, number);
}

}  // namespace

std::uint32_t scale_at(const DequantizeJob& job, std::size_t block) {
  const std::size_t at = job.tiles.at(block / job.grid.cols, block % job.grid.cols);
  return job.scale_width == 4 ? load_little_endian<std::uint32_t>(job.blocks.scales.data() + at * 4) : job.blocks.scales[at];
}

void dequantize_by_model(const DequantizeJob& job, std::size_t block) {
  const BlockGrid& grid = job.grid;
  const std::size_t first = block / grid.cols * grid.block_rows * job.shape.cols + block % grid.cols * grid.block_cols;
  const std::uint32_t scale = scale_at(job, block);
  for (std::size_t row = 0; row < grid.block_rows; ++row) {
    for (std::size_t i = first + row * job.shape.cols; i < first + row * job.shape.cols + grid.block_cols; ++i) {
      put_number(job, i, mx::dequantize(code_at(job, i), scale, job.how, job.tensor));
    }
  }
}

void dequantize_by_model(const DequantizeJob& job, const Workers& workers) {
  const std::size_t blocks = job.grid.count();
  const std::size_t at_a_time = blocks_at_a_time(job.grid);
  for_each_piece((blocks + at_a_time - 1) / at_a_time, workers.threads, [&](std::size_t piece) {
    for (std::size_t b = piece * at_a_time; b < std::min(blocks, (piece + 1) * at_a_time); ++b) dequantize_by_model(job, b);
  });
}

void require_target(const Dequantizer& how, const Format& format) {
  if (format == *how.target) return;
  throw Error(ErrorCode::usage, "this dequantizer of " + std::string(how.format->name) + " gives " + std::string(how.target->name) +
                                    " numbers, the room is for " + std::string(format.name));
}

namespace {

void require_sizes(const QuantizedBits& blocks, const Shape& shape, const Dequantizer& how, ScaleLayout layout, const ElementRoom& out,
                   const Workers& workers) {
  require_workers(workers);
  const QuantizedSizes sizes = quantized_sizes(shape, *how.format, layout);
  require_target(how, *out.format);
  const std::size_t words = word_bytes(*out.format);
  const std::array<Buffer, 3> buffers{{{"elements", out.bytes, words},
                                       {"codes", std::as_bytes(blocks.codes), 1},
                                       {"scales", std::as_bytes(blocks.scales), scale_bytes(*how.format)}}};
  require_size(buffers[0], shape.rows * shape.cols * words, shape);
  require_size(buffers[1], sizes.codes, shape);
  require_size(buffers[2], sizes.scales, shape);
  require_separate(buffers);
}

struct Runner {
  const DequantizeJob& job;
  const Workers& workers;

  void operator()(std::monostate /*by the model*/) const { dequantize_by_model(job, workers); }
  void operator()(const UnpackPlan& plan) const { dequantize_powers(job, plan, workers); }
  void operator()(const std::pair<ProductPlan, ScaleFactors>& plan) const { dequantize_products(job, plan.first, plan.second, workers); }
};

}  // namespace

Dequantizing::Dequantizing(const Dequantizer& how, const TensorScale& tensor) {
  mx::dequantize(0, 0, how, tensor);  // throws what the model throws for this tensor scale
  auto way = std::make_shared<Way>(Way{how, tensor, {}});
  if (const auto power = unpack_plan(how)) {
    way->plan = *power;
  } else if (const auto product = product_plan(how)) {
    way->plan = std::pair(*product, ScaleFactors(how, tensor));
  }
  way_ = std::move(way);
}

void dequantize_checked(const QuantizedBits& blocks, const Shape& shape, const BlockGrid& grid, const Dequantizing::Way& way, ScaleLayout layout,
                        std::span<std::byte> out, const Workers& workers) {
  const ElementRoom room{way.how.target, out};
  const DequantizeJob job{blocks,
                          shape,
                          way.how,
                          way.tensor,
                          grid,
                          ScaleTiles(grid.rows, grid.cols, layout),
                          room,
                          word_bytes(*way.how.target),
                          scale_bytes(*way.how.format),
                          out.size() >= kStreamFrom};
  std::visit(Runner{job, workers}, way.plan);
}

void dequantize(const QuantizedBits& blocks, const Shape& shape, const Dequantizer& how, const TensorScale& tensor, ScaleLayout layout,
                const ElementRoom& out, const Workers& workers) {
  require_sizes(blocks, shape, how, layout, out, workers);
  const Dequantizing ready(how, tensor);
  dequantize_checked(blocks, shape, block_grid(shape, *how.format), ready.way(), layout, out.bytes, workers);
}

CodecWay dequantize_way(const Dequantizer& how) { return unpack_plan(how) || product_plan(how) ? CodecWay::kernel : CodecWay::model; }

}  // namespace mx::kernels
