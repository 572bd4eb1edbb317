#pragma once
// What single values of words of block rules mean, for people: each scale rule, and what elements meet. Sources stand at the enumerators.

#include <array>
#include <string_view>

namespace mx::rules {

struct ValueMeaning {
  std::string_view family;  ///< as Kind::kName
  std::string_view word;    ///< "rule=floor"
  std::string_view meaning;
};

/// emax: exponent of the element's largest number, max: that number; g: encode scale of the tensor, d: its decode scale; s: the block's scale.
inline constexpr std::array kValueMeanings{
    ValueMeaning{"powers of two", "rule=floor", "2^(floor(log2 amax) - emax), MX 1.0 section 6.3"},
    ValueMeaning{"powers of two", "rule=ceil", "2^(ceil(log2 amax) - emax)"},
    ValueMeaning{"powers of two", "rule=rceil", "2^ceil(log2(amax / max))"},
    ValueMeaning{"powers of two", "rule=rceil-rcp", "rceil, and 2^127 for an Inf"},
    ValueMeaning{"powers of two", "rule=even", "floor of amax rounded to the element's bits, ties up"},
    ValueMeaning{"powers of two", "rule=even-source-width", "even, rounded in the source's type"},
    ValueMeaning{"powers of two", "rule=floor-log2", "floor of amax's logarithm in fp32, less emax"},
    ValueMeaning{"powers of two", "rule=floor-log2-no-emax", "floor of amax's logarithm in fp32"},
    ValueMeaning{"powers of two", "rule=floor-log2-ggml", "floor-log2 whose byte may wrap"},
    ValueMeaning{"powers of two", "rule=floor-log2-unclamped", "floor-log2 as a number of fp32, of any exponent"},
    ValueMeaning{"powers of two", "rule=ceil-log2-unclamped", "the same, rounded up"},
    ValueMeaning{"powers of two", "rule=rceil-log2", "2^ceil(log2(amax / max)), quotient and logarithm rounded to fp32"},
    ValueMeaning{"powers of two", "rule=floor-log2-quotient", "2^floor(log2(amax / max)), likewise"},
    ValueMeaning{"powers of two", "rule=ceil-exact", "2^ceil(log2(amax / max)), the quotient rounded, its logarithm exact"},
    ValueMeaning{"powers of two", "rule=even-quark", "even, and 2^127 where that overflows"},
    ValueMeaning{"groups", "rule=group-amax", "amax / max"},
    ValueMeaning{"groups", "rule=group-pow2-log2", "2^ceil(log2(amax / max)), the logarithm rounded to fp32"},
    ValueMeaning{"groups", "rule=group-pow2-bits", "the exponent field of amax / max, plus 1 where its mantissa is not 0"},
    ValueMeaning{"nvfp4", "rule=nvfp4", "g * (amax * (1 / 6))"},
    ValueMeaning{"nvfp4", "rule=nvfp4-per-tensor", "(amax / 6) / d"},
    ValueMeaning{"nvfp4", "rule=nvfp4-single", "amax / 6"},
    ValueMeaning{"nvfp4", "rule=nvfp4-direct", "amax / 6"},
    ValueMeaning{"nvfp4", "rule=nvfp4-quotient", "g * (amax / 6)"},
    ValueMeaning{"nvfp4", "rule=nvfp4-six-decodes", "amax / (6 * d)"},
    ValueMeaning{"fp8", "rule=given", "the tensor's scale, calibrated before"},
    ValueMeaning{"fp8", "rule=amax-div-max", "amax / max"},
    ValueMeaning{"fp8", "rule=max-div-amax", "1 / (max / amax)"},
    ValueMeaning{"fp8", "rule=int8-rescaled", "(amax / 127) * max / 127: an INT8 scale taken for one of FP8"},
    ValueMeaning{"steps", "rule=floor-log2-wrapping", "floor of the fp32 logarithm, less emax, modulo 256; 0 for 0"},
    ValueMeaning{"steps", "rule=nearest-log2", "the power of two nearest to amax / max by its logarithm, halves away from 0"},
    ValueMeaning{"steps", "rule=quotient", "g * (amax / 6)"},
    ValueMeaning{"steps", "rule=product", "amax * (g * (1 / 6))"},
    ValueMeaning{"steps", "rule=two-candidates", "g * (amax / 6) and 1.5 times that: the one of the smaller error"},
    ValueMeaning{"steps", "rule=ggml-ue4m3", "amax / 6 as ggml converts to UE4M3"},
    ValueMeaning{"nvfp4", "multiplier=reciprocal-of-product", "x * (1 / (s * (1 / g)))"},
    ValueMeaning{"nvfp4", "multiplier=reciprocal-over-scale", "x * ((1 / d) / s)"},
    ValueMeaning{"nvfp4", "multiplier=reciprocal-of-scale", "x * (1 / s)"},
    ValueMeaning{"nvfp4", "multiplier=divided-by-quotient", "x / (s / g)"},
    ValueMeaning{"nvfp4", "multiplier=divided-by-product", "x / (s * d)"},
    ValueMeaning{"nvfp4", "multiplier=scaled-then-divided", "(x * g) / s"},
    ValueMeaning{"nvfp4", "multiplier=divided-then-scaled", "(x / s) * g"},
    ValueMeaning{"nvfp4", "multiplier=divided-by-wanted", "x / (amax / 6), whatever the scale's code makes of that"},
};

}  // namespace mx::rules
