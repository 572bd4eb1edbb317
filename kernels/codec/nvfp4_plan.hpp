#pragma once
// NVFP4 blocks as plain numbers for a kernel of its own on AVX-512; other tiers take the scaled recipe. C headers only: see mxact_isa_sources.

#include <stddef.h>
#include <stdint.h>

#include "kernels/codec/power_plan.hpp"

namespace mx::kernels {

/// Every step is one fp32 operation. wanted = (amax * RN(1/6)) * factor, or (amax / 6) / factor; it becomes the E4M3 code of a number s; elements are
/// multiplied by 1 / (s * reciprocal), or by reciprocal / s.
struct Nvfp4Plan {
  ElementSource source;
  uint32_t divides_by_six;
  float factor;      ///< the tensor's encode or decode scale; 1 where there is none
  float reciprocal;  ///< that of the factor; 1 where there is none
  uint32_t divides_by_scale;
  float least_wanted;    ///< what is smaller is raised to it
  float largest_wanted;  ///< blocks that want more are irregular
  uint32_t zero_is_regular;
  uint32_t zero_scale;       ///< the scale of a block of zeros, when that is regular
  uint32_t keeps_zero_sign;  ///< 0: an element whose product is -0 becomes +0
};

inline constexpr size_t kNvfp4Block = 16;

/// The scale bytes are E4M3 codes.
using Nvfp4Quantize = QuantizeBlocks<Nvfp4Plan>;

Nvfp4Quantize nvfp4_quantize_avx512;

}  // namespace mx::kernels
