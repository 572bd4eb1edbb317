// Quantization of matrices: checks, the split into chunks for the threads, kernels, and the model for what they leave.

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

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

/// One call of quantize.
struct Job {
  const ElementBits& elements;
  const Shape& shape;
  const Recipe& recipe;
  const TensorScale& tensor;
  BlockGrid grid;
  ScaleTiles tiles;
  const QuantizedRoom& out;
  std::size_t words;        ///< bytes of an element's word
  std::size_t scale_width;  ///< bytes of a scale
  std::size_t code_bits;    ///< 4 or 8 in memory
};

void put_scale(const Job& job, std::size_t block, std::uint32_t scale) {
  const std::size_t at = job.tiles.at(block / job.grid.cols, block % job.grid.cols);
  std::memcpy(job.out.scales.data() + at * job.scale_width, &scale, job.scale_width);
}

std::uint32_t element_at(const Job& job, std::size_t i) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, job.elements.bytes.data() + i * job.words, job.words);
  return bits;
}

void put_code(const Job& job, std::size_t i, std::uint32_t code) {
  if (job.code_bits == 8) {
    job.out.codes[i] = static_cast<std::uint8_t>(code);
    return;
  }
  const unsigned shift = i % 2 * 4;
  std::uint8_t& byte = job.out.codes[i / 2];
  byte = static_cast<std::uint8_t>((byte & ~(0xFU << shift)) | code << shift);
}

/// One block by the model.
void quantize_by_model(const Job& job, std::size_t block) {
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

/// The scales that a kernel gave for blocks from `first` on, as the format has them and where the layout has them.
void put_power_scales(const Job& job, std::size_t first, std::span<const std::uint8_t> scales) {
  constexpr unsigned kExponentField = 23;
  std::uint8_t* const out = job.out.scales.data();
  if (job.scale_width == 4) {
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const std::uint32_t f32 = std::uint32_t{scales[i]} << kExponentField;
      std::memcpy(out + (first + i) * 4, &f32, 4);
    }
    return;
  }
  for (std::size_t i = 0; i < scales.size();) {
    const std::size_t col = (first + i) % job.grid.cols;
    const std::size_t run = std::min(job.grid.cols - col, scales.size() - i);
    std::uint8_t* const row = out + job.tiles.row_start((first + i) / job.grid.cols);
    for (std::size_t j = 0; j < run; ++j) row[job.tiles.col_offset(col + j)] = scales[i + j];
    i += run;
  }
}

/// Blocks [first, last) by a kernel, and by the model where the kernel says so.
void quantize_powers(const Job& job, const PowerPlan& plan, PowerQuantize* kernel, std::size_t first, std::size_t last) {
  std::array<std::uint64_t, kChunkBlocks / 64> irregular{};
  std::array<std::uint8_t, kChunkBlocks> scales;
  const std::byte* const elements = job.elements.bytes.data() + first * plan.block * job.words;
  std::uint8_t* const codes = job.out.codes.data() + first * code_bytes(plan);
  const bool in_place = job.scale_width == 1 && job.tiles.is_row_major();
  std::uint8_t* const to = in_place ? job.out.scales.data() + first : scales.data();
  kernel(plan, elements, last - first, codes, to, irregular.data());
  if (!in_place) put_power_scales(job, first, std::span(scales).first(last - first));
  for (std::size_t word = 0; word < irregular.size(); ++word) {
    if (irregular[word] == 0) continue;
    for (std::size_t bit = 0; bit < 64; ++bit) {
      if ((irregular[word] >> bit & 1U) != 0) quantize_by_model(job, first + word * 64 + bit);
    }
  }
}

void quantize_all_powers(const Job& job, PowerPlan plan, const Workers& workers) {
  PowerQuantize* const kernel = kernel_for(power_quantizers(), *workers.tier).run;
  plan.streams = job.out.codes.size() >= kStreamFrom ? 1 : 0;
  const std::size_t blocks = job.grid.count();
  const std::size_t chunks = (blocks + kChunkBlocks - 1) / kChunkBlocks;
#pragma omp parallel for schedule(static) num_threads(workers.threads)
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    quantize_powers(job, plan, kernel, chunk * kChunkBlocks, std::min(blocks, (chunk + 1) * kChunkBlocks));
  }
}

/// Blocks of an even number of elements, so that no two threads write one byte.
void quantize_all_by_model(const Job& job, const Workers& workers) {
  const std::size_t blocks = job.grid.count();
#pragma omp parallel for schedule(static) num_threads(workers.threads)
  for (std::size_t block = 0; block < blocks; ++block) quantize_by_model(job, block);
}

/// Throws what the model throws for this recipe, source and tensor scale.
void try_on_zeros(const Job& job) {
  const std::vector<std::uint32_t> zeros(job.grid.block_rows * job.grid.block_cols);
  quantize_block(job.recipe.format->block == 0 ? std::span(zeros).first(1) : zeros, *job.elements.format, job.recipe, job.tensor);
}

}  // namespace

void quantize(const ElementBits& elements, const Shape& shape, const Recipe& recipe, const TensorScale& tensor, ScaleLayout layout,
              const QuantizedRoom& out, const Workers& workers) {
  require_workers(workers);
  const QuantizedSizes sizes = quantized_sizes(shape, *recipe.format, layout);
  const std::size_t words = word_bytes(*elements.format);
  const std::array<Buffer, 3> buffers{{{"elements", elements.bytes, words},
                                       {"codes", std::as_bytes(out.codes), 1},
                                       {"scales", std::as_bytes(out.scales), scale_bytes(*recipe.format)}}};
  require_size(buffers[0], shape.rows * shape.cols * words, shape);
  require_size(buffers[1], sizes.codes, shape);
  require_size(buffers[2], sizes.scales, shape);
  require_separate(buffers);
  const BlockGrid grid = block_grid(shape, *recipe.format);
  const Job job{elements,
                shape,
                recipe,
                tensor,
                grid,
                ScaleTiles(grid.rows, grid.cols, layout),
                out,
                words,
                scale_bytes(*recipe.format),
                recipe.format->element->width == 4 ? std::size_t{4} : std::size_t{8}};
  try_on_zeros(job);
  if (job.tiles.is_padded()) std::ranges::fill(out.scales, std::uint8_t{0});
  if (const auto plan = power_plan(recipe, *elements.format)) return quantize_all_powers(job, *plan, workers);
  quantize_all_by_model(job, workers);
}

bool has_fast_quantize(const Recipe& recipe, const Format& source) { return power_plan(recipe, source).has_value(); }

}  // namespace mx::kernels
