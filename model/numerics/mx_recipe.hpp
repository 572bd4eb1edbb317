#pragma once
// E8M0 scales chosen from the exponent of the largest magnitude: MX 1.0 §6.3 and its dialects.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"

namespace mx {

/// How the shared scale follows from the block's largest magnitude.
enum class ScaleRule {
  floor,  ///< 2^(floor(log2 amax) - emax), clamped to the scale's range (MX 1.0 §6.3)
};

std::string_view name_of(ScaleRule rule);
/// Throws Error(usage) with the nearest known name.
ScaleRule scale_rule_named(std::string_view name);

/// E8M0 code of the scale for a block whose largest magnitude has these fp32 bits (sign ignored). NaN and Inf give 0xFF.
/// Subnormal and zero amax give code 0. Source: MX 1.0 §6.3; torchao mx_tensor.py to_mx, FLOOR.
std::uint32_t scale_code(std::uint32_t amax_f32, const Format& element, ScaleRule rule);

struct MxRecipe {
  ScaleRule rule;
  Conversion element;
};

/// quantize_block for this family. The elements are divided by the scale exactly and rounded once.
/// A block whose scale is NaN has every element encoded as the conversion encodes a NaN.
QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const MxRecipe& how,
                        const TensorScale& tensor);

}  // namespace mx
