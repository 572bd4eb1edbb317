#pragma once
// Steps of VDPBF16PS and TDPBF16PS in plain code: subnormals count as zero before and after. Nothing here has a linkage that another tier could pick
// up.

#include <math.h>

namespace mx::kernels::moe {
namespace {

inline float flushed(float x) { return __builtin_fabsf(x) < 0x1p-126F ? __builtin_copysignf(0.0F, x) : x; }

/// True when the exact a * b + c, which rounds to +-2^-126 where subnormals are kept, is less than that after rounding to 24 bits.
inline bool rounds_below_normal(float a, float b, float c) {
  constexpr double kTie = 0x1p-126 - 0x1p-151;
  const double product = static_cast<double>(a) * b;
  const double sum = product + c;
  // What the sum lost.
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (static_cast<double>(c) - part);
  const double size = __builtin_fabs(sum);
  return size < kTie || (size == kTie && (sum > 0 ? lost < 0 : lost > 0));
}

/// One step of a chain; a result is zero when it is below 2^-126 once rounded to 24 bits.
inline float flushed_step(float a, float b, float c) {
  const float sum = fmaf(a, b, c);
  if (__builtin_fabsf(sum) == 0x1p-126F && rounds_below_normal(a, b, c)) return __builtin_copysignf(0.0F, sum);
  return flushed(sum);
}

/// Two sums of steps, as two fp32 numbers are added: what is subnormal of that is exact.
inline float flushed_sum(float a, float b) { return flushed(a + b); }

}  // namespace
}  // namespace mx::kernels::moe
