#pragma once
// Sums of aligned groups, several rows against one: plain data and C headers alone, since every tier's file includes this.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels::dot {

/// Rows that lie side by side: number k of all of them, then number k + 1.
inline constexpr size_t kLanes = 8;

/// sums[lane] = what aligned_sum gives for the lane and the other row. Products, and units of these, are normal fp32 numbers.
struct AlignedArgs {
  const float* lanes;             ///< [length][kLanes]
  const int16_t* lane_exponents;  ///< likewise, as Row::exponents
  const float* row;               ///< [length]
  const int16_t* row_exponents;   ///< likewise
  size_t length;                  ///< whole groups
  size_t group;                   ///< 16 or 32
  int alignment_bits;
  int kept_bits;  ///< at most the 24 of fp32
  float* sums;    ///< [kLanes]
};

using AlignedFunction = void(const AlignedArgs&);

AlignedFunction aligned_avx2;

}  // namespace mx::kernels::dot
