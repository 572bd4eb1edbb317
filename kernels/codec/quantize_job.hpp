#pragma once
// One call of quantize, as its parts share it. For .cpp files of this folder.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "kernels/codec/arguments.hpp"
#include "kernels/codec/codec.hpp"
#include "kernels/codec/plans.hpp"
#include "kernels/codec/scale_tiles.hpp"
#include "kernels/codec/scaling.hpp"

namespace mx::kernels {

struct Quantizing::Way {
  Recipe recipe;
  const Format* source;
  TensorScale tensor;
  std::variant<std::monostate, PowerPlan, ScaledRecipe> plan;  ///< none: the model does it
  std::optional<Nvfp4Plan> nvfp4;                              ///< before the plan, on tiers that have a kernel for it
};

/// One call of quantize.
struct QuantizeJob {
  ElementBits elements;
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

/// Sizes and memory were checked.
void quantize_checked(std::span<const std::byte> elements, const Shape& shape, const BlockGrid& grid, const Quantizing::Way& way, ScaleLayout layout,
                      const QuantizedRoom& out, const Workers& workers);

/// One block by the model. Blocks have an even number of elements where codes share bytes, so that no two threads write one byte.
void quantize_by_model(const QuantizeJob& job, std::size_t block);

/// Writes the scale of a block: a byte or fp32 bits.
void put_scale(const QuantizeJob& job, std::size_t block, std::uint32_t scale);
/// Those of the blocks from `first` on.
void put_scales(const QuantizeJob& job, std::size_t first, std::span<const std::uint32_t> scales);

/// Every block, by kernels where these know the way.
void quantize_blocks(const QuantizeJob& job, const PowerPlan& plan, const Workers& workers);
void quantize_blocks(const QuantizeJob& job, const Nvfp4Plan& plan, const Workers& workers);
void quantize_scaled(const QuantizeJob& job, const ScaledRecipe& how, const Workers& workers);
void quantize_by_model(const QuantizeJob& job, const Workers& workers);

}  // namespace mx::kernels
