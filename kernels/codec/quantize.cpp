// Quantization of matrices: the checks, and who does the work.

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/codec/quantize_job.hpp"

namespace mx::kernels {
namespace {

/// Throws what the model throws for this recipe, source and tensor scale.
void try_on_zeros(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  const std::vector<std::uint32_t> zeros(recipe.format->block == 0 ? 1U : static_cast<std::size_t>(recipe.format->block));
  quantize_block(zeros, source, recipe, tensor);
}

void require_sizes(const ElementBits& elements, const Shape& shape, const BlockFormat& format, ScaleLayout layout, const QuantizedRoom& out,
                   const Workers& workers) {
  require_workers(workers);
  const QuantizedSizes sizes = quantized_sizes(shape, format, layout);
  const std::size_t words = word_bytes(*elements.format);
  const std::array<Buffer, 3> buffers{
      {{"elements", elements.bytes, words}, {"codes", std::as_bytes(out.codes), 1}, {"scales", std::as_bytes(out.scales), scale_bytes(format)}}};
  require_size(buffers[0], shape.rows * shape.cols * words, shape);
  require_size(buffers[1], sizes.codes, shape);
  require_size(buffers[2], sizes.scales, shape);
  require_separate(buffers);
}

struct Runner {
  const QuantizeJob& job;
  const Workers& workers;

  void operator()(std::monostate /*by the model*/) const { quantize_by_model(job, workers); }
  void operator()(const ScaledRecipe& how) const { quantize_scaled(job, how, workers); }
  void operator()(const PowerPlan& plan) const { quantize_blocks(job, plan, workers); }
};

}  // namespace

Quantizing::Quantizing(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  try_on_zeros(recipe, source, tensor);
  auto way = std::make_shared<Way>(Way{recipe, &source, tensor, {}, {}});
  if (const auto power = power_plan(recipe, source)) {
    way->plan = *power;
  } else if (const auto scaled = scaled_recipe(way->recipe, source, tensor)) {
    way->plan = *scaled;
    way->nvfp4 = nvfp4_plan(recipe, source, tensor);
  }
  way_ = std::move(way);
}

void quantize_checked(std::span<const std::byte> elements, const Shape& shape, const BlockGrid& grid, const Quantizing::Way& way, ScaleLayout layout,
                      const QuantizedRoom& out, const Workers& workers) {
  const BlockFormat& format = *way.recipe.format;
  const QuantizeJob job{{way.source, elements},
                        shape,
                        way.recipe,
                        way.tensor,
                        grid,
                        ScaleTiles(grid.rows, grid.cols, layout),
                        out,
                        word_bytes(*way.source),
                        scale_bytes(format),
                        format.element->width == 4 ? std::size_t{4} : std::size_t{8}};
  if (job.tiles.is_padded()) std::ranges::fill(out.scales, std::uint8_t{0});
  if (way.nvfp4 && nvfp4_quantizer(*workers.tier) != nullptr) {
    quantize_blocks(job, *way.nvfp4, workers);
  } else {
    std::visit(Runner{job, workers}, way.plan);
  }
}

void quantize(const ElementBits& elements, const Shape& shape, const Recipe& recipe, const TensorScale& tensor, ScaleLayout layout,
              const QuantizedRoom& out, const Workers& workers) {
  require_sizes(elements, shape, *recipe.format, layout, out, workers);
  const Quantizing how(recipe, *elements.format, tensor);
  quantize_checked(elements.bytes, shape, block_grid(shape, *recipe.format), how.way(), layout, out, workers);
}

void quantize(std::span<const std::byte> elements, const Shape& shape, const Quantizing& how, const QuantizedRoom& out, const Workers& workers) {
  const Quantizing::Way& way = how.way();
  require_sizes({way.source, elements}, shape, *way.recipe.format, ScaleLayout::rows, out, workers);
  quantize_checked(elements, shape, block_grid(shape, *way.recipe.format), way, ScaleLayout::rows, out, workers);
}

std::string_view name_of(CodecWay way) {
  constexpr std::array<std::string_view, 3> kNames{"kernel", "thresholds", "model"};
  return kNames[static_cast<std::size_t>(way)];
}

CodecWay quantize_way(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  if (!gives_codes(recipe)) return CodecWay::model;
  if (power_plan(recipe, source) || (nvfp4_quantizer(isa_tier()) != nullptr && nvfp4_plan(recipe, source, tensor))) return CodecWay::kernel;
  const auto scaled = scaled_recipe(recipe, source, tensor);
  if (!scaled) return CodecWay::model;
  return std::holds_alternative<SteppedScale>(scaled->scale) ? CodecWay::thresholds : CodecWay::kernel;
}

CodecWay quantize_way(const Recipe& recipe, const Format& source) {
  constexpr std::uint32_t kOne = 0x3F800000U;
  const TensorNeeds needs = tensor_needs(recipe);
  TensorScale tensor;
  if (needs.encode) tensor.encode = kOne;
  if (needs.decode) tensor.decode = kOne;
  return quantize_way(recipe, source, tensor);
}

}  // namespace mx::kernels
