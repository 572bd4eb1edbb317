#pragma once
// Blocks whose scale is a power of two, as plain numbers for kernels of every instruction set. C headers only: see mxact_isa_sources.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels {

/// Where elements come from. The kernels work on the upper 16 bits of fp32 patterns: bf16 is that already; of fp32 (and fp16, widened) the lowest
/// kept bit is set where anything below it is (rounding to odd), which loses nothing when at least two of the kept bits are rounded away later.
enum class ElementSource : uint32_t { f32, bf16, fp16 };

/// How blocks become codes. Magnitudes are upper halves of fp32 patterns, 15 bits: exponent field << 7 | 7 bits of mantissa.
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
  uint16_t largest;           ///< the largest element's magnitude, its exponent counted from that of half of the smallest one
  uint16_t mantissa_bits;     ///< of an element, at most 5
  uint16_t even;              ///< 1: ties go to the even neighbour; 0: toward zero
  uint16_t keeps_zero_sign;   ///< 0xFFFF: a negative element that becomes zero keeps its sign; 0: it does not
  uint16_t width;             ///< bits of an element's code; codes of 4 bits share a byte, the first one in the low nibble, others have a byte each
  uint16_t streams;           ///< not 0: codes go past the caches
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

}  // namespace mx::kernels
