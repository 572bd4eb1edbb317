// Dequantization of matrices: the checks, and who does the work.

#include <array>
#include <cstring>
#include <string>

#include "kernels/codec/dequantize_job.hpp"
#include "kernels/little_endian.hpp"
#include "model/error.hpp"
#include "model/ordinary_mode.hpp"

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
#pragma omp parallel for schedule(static) num_threads(workers.threads)
  for (std::size_t block = 0; block < blocks; ++block) {
    const OrdinaryMode mode;
    dequantize_by_model(job, block);
  }
}

void dequantize(const QuantizedBits& blocks, const Shape& shape, const Dequantizer& how, const TensorScale& tensor, ScaleLayout layout,
                const ElementRoom& out, const Workers& workers) {
  require_workers(workers);
  const QuantizedSizes sizes = quantized_sizes(shape, *how.format, layout);
  if (*out.format != *how.target) {
    throw Error(ErrorCode::usage, "this dequantizer of " + std::string(how.format->name) + " gives " + std::string(how.target->name) +
                                      " numbers, the room is for " + std::string(out.format->name));
  }
  const std::size_t words = word_bytes(*out.format);
  const std::array<Buffer, 3> buffers{{{"elements", out.bytes, words},
                                       {"codes", std::as_bytes(blocks.codes), 1},
                                       {"scales", std::as_bytes(blocks.scales), scale_bytes(*how.format)}}};
  require_size(buffers[0], shape.rows * shape.cols * words, shape);
  require_size(buffers[1], sizes.codes, shape);
  require_size(buffers[2], sizes.scales, shape);
  require_separate(buffers);
  mx::dequantize(0, 0, how, tensor);  // throws what the model throws for this tensor scale
  const BlockGrid grid = block_grid(shape, *how.format);
  const DequantizeJob job{blocks,
                          shape,
                          how,
                          tensor,
                          grid,
                          ScaleTiles(grid.rows, grid.cols, layout),
                          out,
                          words,
                          scale_bytes(*how.format),
                          out.bytes.size() >= kStreamFrom};
  if (const auto plan = unpack_plan(how)) return dequantize_powers(job, *plan, workers);
  if (const auto plan = product_plan(how)) return dequantize_products(job, *plan, workers);
  dequantize_by_model(job, workers);
}

bool has_fast_dequantize(const Dequantizer& how) { return unpack_plan(how) || product_plan(how); }

}  // namespace mx::kernels
