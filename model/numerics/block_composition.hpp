#pragma once
// A block quantizer put together of steps that no named recipe has: how the largest magnitude becomes the scale, what elements meet, how they become
// codes, and the choice between two candidates.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"
#include "model/numerics/element_step.hpp"

namespace mx {

/// How a block's largest magnitude becomes its scale. Every step is one fp32 operation, nearest even. enc is 1 or the tensor's encode scale.
enum class ScaleStep {
  floor_log2_wrapping,  ///< E8M0: floor of the fp32 logarithm, less the element's largest exponent; the byte modulo 256, 0 for 0 (ggml)
  nearest_log2,         ///< E8M0: amax / the element's largest number, by its logarithm, halves away from 0; byte 0 for 0 (MLX)
  quotient,             ///< (amax / 6) * enc into E4M3 (MLX)
  product,              ///< amax * (enc * (1 / 6)) into E4M3 (TransformerEngine)
  two_candidates,       ///< (amax / 6) * enc and 1.5 times that; the one of the smaller error (TransformerEngine, four over six)
  ggml_ue4m3,           ///< amax / 6 into UE4M3 as ggml converts: below 2^-6 min(7, floor(512 x + 0.5)), ties away, 0x7E from 248 on
};

/// What elements are multiplied by; s is the scale's value.
enum class FactorStep {
  reciprocal,             ///< 1 / s of a power of two
  quotient,               ///< enc / s
  reciprocal_of_product,  ///< 1 / (s * (1 / enc))
  none,                   ///< the nearest code times s is searched, exactly; ties toward zero
};

/// The error that decides between two candidates: over the elements in order, in fp32.
struct CandidateError {
  bool squared = false;      ///< the sum of squares; false: of magnitudes
  bool scaled_fp16 = false;  ///< code times scale in fp16 against x * enc; false: what is decoded against x

  friend bool operator==(const CandidateError&, const CandidateError&) = default;
};

/// Every step is one fp32 operation, nearest even. The formats and the shape are those of the block format.
struct BlockComposition {
  ScaleStep scale_step;
  FactorStep factor;
  Conversion encode;                              ///< of the products: one that is -0 counts as -0
  std::uint32_t factor_of_zero = 0;               ///< fp32 bits: where the decoded scale is 0
  std::uint32_t largest_factor = 0x7F800000;      ///< fp32 bits: a cap; Inf where there is none
  bool factor_in_bf16 = false;                    ///< rounded to bf16, nearest even; enc is at most the largest bf16
  bool takes_encode = false;                      ///< enc is TensorScale::encode where tensor_amax does not say it
  std::optional<std::uint32_t> tensor_amax = {};  ///< fp32 bits; enc follows from it
  std::uint32_t largest_scale = 0x43E00000;       ///< fp32 bits of 448 or 256: enc = 6 * this / tensor_amax, at most the largest fp32; 1 for 0
  CandidateError error = {};
  Sources sources = kAnySource;

  friend bool operator==(const BlockComposition&, const BlockComposition&) = default;
};

/// "quotient", "nearest-log2".
std::string_view name_of(ScaleStep step);

/// The encode scale where it is taken and no largest magnitude of the tensor says it.
TensorNeeds tensor_needs(const BlockComposition& how);

/// block_scaling for this family. Throws Error(usage) for a choice between candidates, which the elements make.
BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const BlockFormat& format, const BlockComposition& how,
                           const TensorScale& tensor);

/// quantize_block for this family; the length has been checked. A NaN is ignored by the largest magnitude. Throws Error(usage) for a scale of the
/// tensor that is missing, not taken or no positive finite number, and for candidates of a tile whose rows are no power of two.
/// Source: ggml d99724f2 ggml-quants.c, MLX 846d1762 fp_quantized.h, TransformerEngine d0067d0d reference_nvfp4.py and
/// quantize_4over6_nvfp4.cuh; recorded sets of golden/witness/numerics-2.
QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const BlockComposition& how,
                        const TensorScale& tensor);

}  // namespace mx
