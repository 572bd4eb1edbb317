// Dequantization of matrices: checks, the split into chunks for the threads, kernels, and the model for what they leave.

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "kernels/codec/arguments.hpp"
#include "kernels/codec/codec.hpp"
#include "kernels/codec/plans.hpp"
#include "kernels/codec/scale_tiles.hpp"
#include "model/error.hpp"

namespace mx::kernels {
namespace {

/// Blocks that a thread takes at a time; a multiple of 64.
constexpr std::size_t kChunkBlocks = 2048;
/// Results of this many bytes do not stay in the caches anyway.
constexpr std::size_t kStreamFrom = std::size_t{4} << 20;

/// One call of dequantize.
struct Job {
  const QuantizedBits& blocks;
  const Shape& shape;
  const Dequantizer& how;
  const TensorScale& tensor;
  BlockGrid grid;
  ScaleTiles tiles;
  const ElementRoom& out;
  std::size_t words;        ///< bytes of an element's word
  std::size_t scale_width;  ///< bytes of a scale
};

std::uint32_t scale_at(const Job& job, std::size_t block) {
  std::uint32_t scale = 0;
  const std::size_t at = job.tiles.at(block / job.grid.cols, block % job.grid.cols);
  std::memcpy(&scale, job.blocks.scales.data() + at * job.scale_width, job.scale_width);
  return scale;
}

std::uint32_t code_at(const Job& job, std::size_t i) {
  if (job.how.format->element->width == 4) return job.blocks.codes[i / 2] >> (i % 2 * 4) & 0xFU;
  return job.blocks.codes[i] & ((1U << job.how.format->element->width) - 1U);
}

/// One block by the model.
void dequantize_by_model(const Job& job, std::size_t block) {
  const BlockGrid& grid = job.grid;
  const std::size_t first = block / grid.cols * grid.block_rows * job.shape.cols + block % grid.cols * grid.block_cols;
  const std::uint32_t scale = scale_at(job, block);
  for (std::size_t row = 0; row < grid.block_rows; ++row) {
    for (std::size_t i = first + row * job.shape.cols; i < first + row * job.shape.cols + grid.block_cols; ++i) {
      const std::uint32_t number = mx::dequantize(code_at(job, i), scale, job.how, job.tensor);
      std::memcpy(job.out.bytes.data() + i * job.words, &number, job.words);
    }
  }
}

/// Blocks [first, last) by a kernel, and by the model where the kernel says so.
void unpack(const Job& job, const UnpackPlan& plan, Unpack* kernel, std::size_t first, std::size_t last) {
  std::array<std::uint64_t, kChunkBlocks / 64> irregular{};
  std::array<std::uint8_t, kChunkBlocks> scales;
  const std::uint8_t* from = job.blocks.scales.data() + first;
  if (!job.tiles.is_row_major()) {
    for (std::size_t i = first; i < last; ++i) scales[i - first] = static_cast<std::uint8_t>(scale_at(job, i));
    from = scales.data();
  }
  const std::size_t code_bytes = plan.width == 4 ? plan.block / 2 : plan.block;
  kernel(plan, job.blocks.codes.data() + first * code_bytes, from, last - first, job.out.bytes.data() + first * plan.block * job.words,
         irregular.data());
  for (std::size_t word = 0; word < irregular.size(); ++word) {
    if (irregular[word] == 0) continue;
    for (std::size_t bit = 0; bit < 64; ++bit) {
      if ((irregular[word] >> bit & 1U) != 0) dequantize_by_model(job, first + word * 64 + bit);
    }
  }
}

void unpack_all(const Job& job, UnpackPlan plan, const Workers& workers) {
  Unpack* const kernel = kernel_for(unpackers(), *workers.tier).run;
  plan.streams = job.out.bytes.size() >= kStreamFrom ? 1 : 0;
  const std::size_t blocks = job.grid.count();
  const std::size_t chunks = (blocks + kChunkBlocks - 1) / kChunkBlocks;
#pragma omp parallel for schedule(static) num_threads(workers.threads)
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    unpack(job, plan, kernel, chunk * kChunkBlocks, std::min(blocks, (chunk + 1) * kChunkBlocks));
  }
}

void dequantize_all_by_model(const Job& job, const Workers& workers) {
  const std::size_t blocks = job.grid.count();
#pragma omp parallel for schedule(static) num_threads(workers.threads)
  for (std::size_t block = 0; block < blocks; ++block) dequantize_by_model(job, block);
}

}  // namespace

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
  const Job job{blocks, shape, how, tensor, grid, ScaleTiles(grid.rows, grid.cols, layout), out, words, scale_bytes(*how.format)};
  if (const auto plan = unpack_plan(how)) return unpack_all(job, *plan, workers);
  dequantize_all_by_model(job, workers);
}

bool has_fast_dequantize(const Dequantizer& how) { return unpack_plan(how).has_value(); }

}  // namespace mx::kernels
