#pragma once
// Activations of the swish family on sixteen columns of an accumulator tile: plain data and C headers alone, since every tier's file includes this.

#include <stdint.h>

namespace mx::kernels::moe {

/// How the curve's value s = g / (1 + exp(-(alpha * g))) and up come together; the words of mx::moe::Join.
enum class SwishJoin { times_up, times_up_and_beta, fused, before_division };

/// One activation with its constants: what mx::moe::activate does for a row whose curve is a swish and whose only rounding is to fp32.
struct Swish {
  bool gate_clamped;  ///< from above
  bool up_clamped;    ///< from both sides
  bool by_alpha;      ///< else alpha is 1 and no product is rounded
  bool by_sigmoid;    ///< g * (1 / (1 + exp(...))) instead of the quotient
  SwishJoin join;
  float alpha;
  float beta;
  float limit;
};

/// out[i] = the activation of gate[i] and up[i] for 16 columns. Bit i of the result is set where out[i] may not be the model's: NaNs, exponents far
/// out, and the one exponential in thousands that lies too near a rounding boundary for arithmetic in doubles.
using SwishFunction = uint32_t(const Swish& swish, const float* gate, const float* up, float* out);

inline constexpr int kSwishColumns = 16;

SwishFunction swish_portable;
SwishFunction swish_avx2;
SwishFunction swish_avx512;

}  // namespace mx::kernels::moe
