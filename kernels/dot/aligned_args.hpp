#pragma once
// Sums of aligned groups, several rows against one: plain data and C headers alone, since every tier's file includes this.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels::dot {

/// Rows that lie side by side: number k of all of them, then number k + 1.
inline constexpr size_t kLanes = 16;

/// Exponents of factors that the kernels take lie in this range, those of sums before in twice of it: then products, units and sums are normal fp32
/// numbers. A zero has kZeroExponent.
inline constexpr int kLargestExponent = 50;
inline constexpr int kLeastExponent = -50;
inline constexpr int16_t kZeroExponent = -8192;

/// How the sum of a group is rounded.
enum class GroupRounding {
  truncated,  ///< toward zero, to `kept_bits`
  fp16,       ///< to fp16, nearest even; a lane that overflows is given up
};

/// sums[lane] = what aligned_sum gives for the lane and the other row, group by group from sums[lane] on.
struct AlignedArgs {
  const float* lanes;             ///< [length][kLanes]
  const int16_t* lane_exponents;  ///< likewise, as Row::exponents
  const float* row;               ///< [length]
  const int16_t* row_exponents;   ///< likewise
  size_t length;                  ///< whole groups
  size_t group;
  int alignment_bits;  ///< at most 25
  int kept_bits;       ///< at most the 24 of fp32
  int least_exponent;  ///< of a group's largest; at least twice kLeastExponent
  GroupRounding rounding;
  float* sums;        ///< [kLanes], normal numbers or zeros of the result's format
  int32_t* given_up;  ///< [kLanes]: becomes other than 0 where the lane's sum is not to be used
};

using AlignedFunction = void(const AlignedArgs&);

/// Terms of 16 products of e2m1, aligned by their scales: sums[lane] likewise. Numbers are twice those of the codes, whole ones.
struct Fp4Args {
  const int16_t* lanes;           ///< [terms * run][kLanes]
  const int16_t* row;             ///< [terms * run]
  const double* lane_scales;      ///< [terms][kLanes]
  const double* row_scales;       ///< [terms]
  const int32_t* lane_exponents;  ///< [terms][kLanes]: of the scales; of a zero one kZeroExponent
  const int32_t* row_exponents;   ///< [terms]
  const int32_t* lane_places;     ///< [terms][kLanes]: bit i says that number i of the term is not zero
  const int32_t* row_places;      ///< [terms]
  size_t terms;
  size_t run;          ///< products in a term, at most 31
  size_t group;        ///< terms in a group
  int alignment_bits;  ///< at most 36
  int kept_bits;
  int least_exponent;
  float* sums;
  int32_t* given_up;  ///< also where a sum is subnormal or too large for a number
};

using Fp4Function = void(const Fp4Args&);

AlignedFunction aligned_portable, aligned_avx2, aligned_avx512;
Fp4Function fp4_portable, fp4_avx2, fp4_avx512;

}  // namespace mx::kernels::dot
