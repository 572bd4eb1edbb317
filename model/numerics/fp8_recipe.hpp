#pragma once
// FP8 with fp32 scales per tensor, token, group or 128x128 block, static or dynamic. What a scale covers is what the caller hands over.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"
#include "model/numerics/element_step.hpp"

namespace mx {

/// Where the scale comes from; max is the element format's largest number.
enum class Fp8Scale {
  given,          ///< TensorScale::decode, calibrated before
  amax_over_max,  ///< amax / max
  max_over_amax,  ///< max / amax is what elements are multiplied by; the scale is its reciprocal
  /// An INT8 scale taken for one of FP8: amax / 127, 1 where that is below 2^-126, times max, over 127 (ModelOpt's ONNX exporter).
  int8_rescaled,
};

/// Which operation scales an element.
enum class Fp8Scaling {
  divide,      ///< x / scale
  reciprocal,  ///< x * (1 / scale), the reciprocal rounded to fp32
};

/// Every step is one fp32 operation, nearest even.
struct Fp8Recipe {
  Fp8Scale rule;
  Fp8Scaling scaling;  ///< max_over_amax multiplies by max / amax itself: `reciprocal`
  Conversion element;
  bool amax_ignores_nan;         ///< the largest of the numbers, 0 when there is none. False: a NaN wins
  bool takes_amax_bound;         ///< TensorScale::amax_bound limits amax where it is given
  std::uint32_t least_amax;      ///< fp32 bits; 0: no floor
  std::uint32_t least_scale;     ///< fp32 bits; 0: no floor
  bool at_source_width;          ///< every step but the last reciprocal is rounded to the source format too (torch on bf16 tensors)
  bool invalid_nan_is_negative;  ///< 0/0 and Inf/Inf give a NaN with its sign set, as x86 does
  bool zero_scale_is_epsilon;    ///< a scale of 0 becomes the source type's distance from 1 to the next number
  bool drops_zero_sign;          ///< an element whose quotient is -0 becomes +0
  std::uint32_t largest_factor;  ///< max_over_amax: fp32 bits of a cap on max / amax; Inf where there is none
  bool factor_is_power;          ///< max_over_amax: the factor is 2^floor(log2 of it), the logarithm rounded to fp32
  bool returns_factor;           ///< max_over_amax: the scale that comes out is the factor, not its reciprocal
  Sources sources;
  bool quotients_at_source_width = false;  ///< the scaled element is rounded to the source format, and nothing else is
  bool unit_factor_at_zero = false;        ///< max_over_amax: the factor is 1 where amax is 0 or NaN
  bool reciprocal_first = false;           ///< max_over_amax: the factor is max * (1 / amax), torch's number / tensor
  bool scale_is_power = false;             ///< max_over_amax: the scale is 2^ceil(log2 of it), the logarithm rounded to fp32; Inf becomes NaN

  friend bool operator==(const Fp8Recipe&, const Fp8Recipe&) = default;
};

std::string_view name_of(Fp8Scale rule);

/// The scale itself for `given`, nothing for the others.
TensorNeeds tensor_needs(const Fp8Recipe& how);

/// block_scaling for this family. Same errors as quantize.
BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const BlockFormat& format, const Fp8Recipe& how, const TensorScale& tensor);

/// quantize_block for this family; the length has been checked. Throws Error(usage) for a tensor scale that is missing, and for a tensor
/// scale or bound on amax that is not taken or no positive finite number. Source: numerics specification section 4.
QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const Fp8Recipe& how,
                        const TensorScale& tensor);

/// An E4M3 weight as hardware with E4M3FNUZ reads it.
struct FnuzWeight {
  std::uint32_t code;   ///< E4M3FNUZ: the same byte, 0x80 (-0 there, NaN here) becomes 0x00
  std::uint32_t scale;  ///< fp32 bits: twice the scale, since equal bytes mean half the value
};

/// Bytes 0x7F and 0xFF, NaN in E4M3, become +-240: the implementation does not look at them.
/// Source: vllm layers/quantization/utils/w8a8_utils.py normalize_e4m3fn_to_e4m3fnuz.
FnuzWeight e4m3fn_to_e4m3fnuz(std::uint32_t code, std::uint32_t scale_f32);

}  // namespace mx
