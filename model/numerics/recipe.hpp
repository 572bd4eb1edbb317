#pragma once
// Recipes: how an implementation quantizes blocks. One row per implementation and block format; one interpreter per family of scale rules.

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "model/numerics/block.hpp"
#include "model/numerics/block_composition.hpp"
#include "model/numerics/fp8_recipe.hpp"
#include "model/numerics/group_recipe.hpp"
#include "model/numerics/mx_recipe.hpp"
#include "model/numerics/nvfp4_recipe.hpp"

namespace mx {

/// One recipe: the block format, the scale rule with its dialect, and how elements are scaled and encoded.
struct Recipe {
  const BlockFormat* format;
  std::variant<MxRecipe, GroupRecipe, Nvfp4Recipe, Fp8Recipe, BlockComposition> how;
  std::string_view source;  ///< repository, file and symbol, or document and section

  /// The same format, not an equal one.
  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Quantizes one block of `source` bit patterns (fp32, bf16 or fp16): exactly `format->block` of them, or any number when that is 0.
/// Throws Error(usage) for another length, for a source that the recipe does not take, and for a tensor scale that is missing or not taken.
QuantizedBlock quantize_block(std::span<const std::uint32_t> x, const Format& source, const Recipe& recipe, const TensorScale& tensor = {});

/// True when the recipe takes elements of that format.
bool takes_source(const Recipe& recipe, const Format& source);

/// The tensor's numbers without which quantize_block refuses.
TensorNeeds tensor_needs(const Recipe& recipe);

/// False for an implementation that gives scales alone: quantize_block throws Error(usage) then.
bool gives_codes(const Recipe& recipe);

/// The scale that quantize_block gives, also for a recipe of scales alone. Same errors.
std::uint32_t block_scale(std::span<const std::uint32_t> x, const Format& source, const Recipe& recipe, const TensorScale& tensor = {});

/// The scale of a block with this largest magnitude, and what its elements meet. Throws Error(usage) where quantize_block throws for the tensor's
/// numbers, and for a recipe of scales alone.
BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const Recipe& recipe, const TensorScale& tensor = {});

/// The conversion that the recipe's elements go through. Throws Error(usage) for a recipe of scales alone.
const Conversion& element_conversion(const Recipe& recipe);

/// The scale rule's name, for people: "floor", "rceil", "nvfp4".
std::string_view scale_rule_name(const Recipe& recipe);

}  // namespace mx
