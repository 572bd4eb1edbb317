#pragma once
// Activations of the swish family on sixteen columns of an accumulator tile: plain data and C headers alone, since every tier's file includes this.

#include <stddef.h>
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

inline constexpr int kSwishColumns = 16;

/// Rows of 16 columns each.
struct SwishTile {
  const float* gate;
  const float* up;
  size_t stride;  ///< floats from row to row of both
  size_t rows;
  float* out;
  size_t out_stride;
  /// Of each row: bit i is set where out[i] may not be the model's: NaNs, exponents far out, and the one exponential in some hundred thousand that
  /// lies too near a rounding boundary for arithmetic in doubles.
  uint32_t* unsure;
};

/// Out = the activation of gate and up.
using SwishFunction = void(const Swish& swish, const SwishTile& tile);

SwishFunction swish_portable;
SwishFunction swish_avx2;
SwishFunction swish_avx512;

}  // namespace mx::kernels::moe
