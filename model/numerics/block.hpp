#pragma once
// Block formats: elements that share one scale along a row. Quantization names its scale rule; nothing is implied.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/numerics/convert.hpp"
#include "model/numerics/format.hpp"

namespace mx {

/// One block format: `block` consecutive elements along the last axis share one scale. Source: MX 1.0 §5.2.
struct BlockFormat {
  std::string_view name;
  const Format* element;
  const Format* scale;
  int block;
  std::string_view source;
};

std::span<const BlockFormat> all_block_formats();
/// Throws Error(usage) with the nearest known name.
const BlockFormat& block_format_named(std::string_view name);

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

struct QuantizedBlock {
  std::uint32_t scale;               ///< code in the block's scale format
  std::vector<std::uint32_t> codes;  ///< one element code each, unpacked
};

/// Quantizes one block of fp32 bit patterns (1 to `format.block` of them). The elements are divided by the scale exactly and rounded once.
/// A block whose scale is NaN has every element encoded as the profile encodes a NaN.
QuantizedBlock quantize_block(std::span<const std::uint32_t> f32, const BlockFormat& format, ScaleRule rule, const Conversion& how);

/// fp32 bits of one element: decode(code) * 2^(scale-127) exactly, rounded once to nearest even where fp32 cannot hold it.
/// Scale 0xFF gives NaN. Source: MX 1.0 §5.2.
std::uint32_t dequantize(std::uint32_t code, std::uint32_t scale, const BlockFormat& format);

/// Exact value of one element: no range limit, no rounding.
Value scaled_value(std::uint32_t code, std::uint32_t scale, const BlockFormat& format);

}  // namespace mx
