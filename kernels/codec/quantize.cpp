// Quantization of matrices: the checks, and who does the work.

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/codec/quantize_job.hpp"

namespace mx::kernels {
namespace {

/// Throws what the model throws for this recipe, source and tensor scale.
void try_on_zeros(const QuantizeJob& job) {
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
  const QuantizeJob job{elements,
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
  if (const auto plan = power_plan(recipe, *elements.format)) return quantize_blocks(job, *plan, workers);
  if (const auto plan = nvfp4_plan(recipe, *elements.format, tensor)) return quantize_blocks(job, *plan, workers);
  if (const auto how = scaled_recipe(recipe, *elements.format, tensor)) return quantize_scaled(job, *how, workers);
  quantize_by_model(job, workers);
}

bool has_fast_quantize(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  return power_plan(recipe, source) || nvfp4_plan(recipe, source, tensor) || scaled_recipe(recipe, source, tensor);
}

}  // namespace mx::kernels
