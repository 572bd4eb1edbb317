#pragma once
// NVFP4: blocks of 16 E2M1 codes with an E4M3 scale and one fp32 scale of the tensor.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"
#include "model/numerics/element_step.hpp"

namespace mx {

/// The fp32 number that becomes the block's E4M3 code. g is the tensor's encode scale (448 * 6 / amax of the tensor), d its decode scale 1/g.
enum class Nvfp4Scale {
  global,       ///< g * (amax * RN(1/6)); takes g (vLLM, flashinfer)
  per_tensor,   ///< (amax / 6) / d; takes d (torchao)
  single,       ///< amax / 6 (torchao without a tensor scale)
  direct,       ///< amax / 6 (triton_kernels)
  quotient,     ///< g * (amax / 6); takes g (compressed-tensors, flashinfer's reference, MLX)
  six_decodes,  ///< amax / (6 * d); takes d (ModelOpt)
};

/// What the elements are multiplied by, or what else is done to them; s is the value of the block's scale code.
enum class Nvfp4Multiplier {
  reciprocal_of_product,  ///< 1 / (s * (1/g))
  reciprocal_over_scale,  ///< (1/d) / s
  reciprocal_of_scale,    ///< 1 / s
  divided_by_quotient,    ///< x / (s / g)
  divided_by_product,     ///< x / (s * d)
  scaled_then_divided,    ///< (x * g) / s
  divided_then_scaled,    ///< (x / s) * g
  divided_by_wanted,      ///< x / (amax / 6), whatever the scale code makes of that (NNCF)
};

/// Every step is one fp32 operation, nearest even, in the order that the enumerators state.
struct Nvfp4Recipe {
  Nvfp4Scale rule;
  Nvfp4Multiplier multiplier;
  Conversion scale;                    ///< fp32 to E4M3
  Conversion element;                  ///< fp32 to E2M1
  bool amax_ignores_nan;               ///< the largest of the numbers; NaN only when there is none. False: a NaN wins
  std::uint32_t least_scale;           ///< fp32 bits: what becomes the scale code is raised to it; 0 where nothing is
  std::uint32_t multiplier_of_zero;    ///< fp32 bits: the multiplier where its divisor is 0
  std::uint32_t largest_multiplier;    ///< fp32 bits: a cap; Inf where there is none
  bool zero_block_multiplies_by_zero;  ///< a block whose amax is 0 has the multiplier 0, whatever the two fields above say
  bool approximate_reciprocal;         ///< 1/g is the device's rcp.approx.ftz(g), which must be given; a reciprocal of or to a subnormal is 0 or Inf
  bool flush_subnormals;               ///< of every operand and result (-ftz=true)
  bool drops_zero_sign;                ///< an element whose product is -0 becomes +0
  bool in_source_type;                 ///< amax / 6, and x / s where the product with g follows, are rounded to the source's type
  bool encode_may_be_missing;          ///< without g it is 1
  std::uint32_t zero_wanted;           ///< fp32 bits in place of a 0 that would become the scale code
  std::uint32_t zero_scale_code;       ///< the scale code in place of 0
  std::uint32_t zero_scale_value;      ///< fp32 bits: s where the scale code is 0; where these are not 0, for a NaN code too
  Sources sources;
  std::uint32_t least_sixth = 0;  ///< fp32 bits: amax / 6 of per_tensor is raised to it; 0 where it is not

  friend bool operator==(const Nvfp4Recipe&, const Nvfp4Recipe&) = default;
};

std::string_view name_of(Nvfp4Scale rule);

/// g for `global`; 1/g for `per_tensor`, and where it is the device's approximate reciprocal.
TensorNeeds tensor_needs(const Nvfp4Recipe& how);

/// block_scaling for this family. Of the elements' two operations, where there are two, the factor is that of the division. Same errors as quantize.
BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const BlockFormat& format, const Nvfp4Recipe& how,
                           const TensorScale& tensor);

/// quantize_block for this family; the length has been checked. `tensor.encode` is g and `tensor.decode` the value used for 1/g (RN(1/g) when
/// not given); per_tensor takes `tensor.decode` alone. Throws Error(usage) for a scale that is missing, not taken or no positive finite number.
/// Source: numerics specification section 4, "NVFP4"; the recorded outputs of golden/witness/numerics.
QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const Nvfp4Recipe& how,
                        const TensorScale& tensor);

}  // namespace mx
