#pragma once
// Blocks whose scale is a power of two, as plain numbers for kernels of every instruction set. C headers only: see mxact_isa_sources.

#include <stddef.h>
#include <stdint.h>

#include "kernels/codec/rounding_plan.hpp"

namespace mx::kernels {

/// How blocks become codes. Magnitudes are upper halves of fp32 patterns.
struct PowerPlan {
  ElementSource source;
  uint32_t block;       ///< elements that share a scale: 32 or 128
  uint16_t least_amax;  ///< a smaller largest magnitude counts as this one
  uint16_t amax_from;   ///< blocks whose amax lies below amax_from or more than amax_span above it are irregular: left to the model
  uint16_t amax_span;
  uint16_t zero_is_regular;  ///< 0xFFFF: blocks of zeros have the scale zero_scale; 0: they are irregular
  uint16_t zero_scale;
  uint16_t scale_addend;  ///< scale = ((amax + scale_addend) >> 7) - scale_offset
  uint16_t scale_offset;
  uint16_t half_unit_offset;  ///< scale - half_unit_offset: exponent field of half of the smallest positive element
  RoundingPlan rounding;
  uint16_t streams;  ///< not 0: codes go past the caches
};

/// Quantizes `blocks` blocks that stand one after the other: a scale byte each, and codes. Sets bit b % 64 of irregular[b / 64] for an irregular
/// block b, whose output means nothing; leaves the other bits alone.
template <class Plan>
using QuantizeBlocks = void(const Plan& plan, const void* elements, size_t blocks, uint8_t* codes, uint8_t* scales, uint64_t* irregular);

/// The scale bytes are E8M0 codes.
using PowerQuantize = QuantizeBlocks<PowerPlan>;

PowerQuantize power_quantize_portable;
PowerQuantize power_quantize_avx2;
PowerQuantize power_quantize_avx512;
PowerQuantize power_quantize_neon;

}  // namespace mx::kernels
