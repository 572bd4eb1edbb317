#pragma once
// The sum over a token's experts: plain data and C headers alone, since every tier's file includes this.

#include <stddef.h>

namespace mx::kernels::moe {

/// out[n] = sum over i in order of weights[i] * rows[i][n], one fp32 fused multiply-add each from +0, of NaNs 0x7FC00000.
struct CombineArgs {
  const float* weights;
  const float* const* rows;
  size_t count;
  size_t columns;
  float* out;
};

using CombineFunction = void(const CombineArgs&);

CombineFunction combine_portable;
CombineFunction combine_avx2;
CombineFunction combine_avx512;

}  // namespace mx::kernels::moe
