#pragma once
// Elementary functions as an NVIDIA device of sm_90 computes them, on fp32 bits. Its unit for special functions interpolates: of a segment's three
// coefficients, those of the square meet a square whose low partial products are left out. A NaN result is f32::kNan.
// Source: the unit's structure from Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator" (ARITH 2005); coefficients and
// what is left out follow from outputs of an H100 for every significand (CUDA 13.0.88), which they reproduce: 0 of 3 * 2^23 differ.

#include <cstdint>

namespace mx::device {

/// ex2.approx.f32, 2^x: x is cut to multiples of 2^-23 toward zero. Of a negative fraction the complement is taken one unit of 2^-23 too low.
/// Results below 2^-126 are zero with `flush` (.ftz), else rounded to nearest even. 2^-Inf = +0.
std::uint32_t ex2_approx(std::uint32_t x, bool flush = false);

/// rcp.approx.f32, 1 / x by the significand alone. 1 / +-0 = +-Inf, 1 / +-Inf = +-0.
std::uint32_t rcp_approx(std::uint32_t x);

/// div.full.f32: a * rcp_approx(b), one rounding. From 2^126 on both are scaled by 2^-2 first (read in PTX, not run).
std::uint32_t div_full(std::uint32_t a, std::uint32_t b);

/// expf of CUDA without fast math.
std::uint32_t expf(std::uint32_t x);

/// tl.exp of Triton: ex2_approx(x * log2 e), the product rounded to fp32.
std::uint32_t triton_exp(std::uint32_t x);

}  // namespace mx::device
