#pragma once
// How scaled elements become codes, as plain numbers for kernels of every instruction set. C headers only: see mxact_isa_sources.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels {

/// Where elements come from. The kernels work on the upper 16 bits of fp32 patterns: bf16 is that already; of fp32 (and fp16, widened) the lowest
/// kept bit is set where anything below it is (rounding to odd), which loses nothing when at least two of the kept bits are rounded away later.
enum class ElementSource : uint32_t { f32, bf16, fp16 };

/// Which negative elements that become zero keep their sign.
enum class ZeroSigns : uint16_t {
  dropped,
  kept,
  kept_if_rounded,  ///< those that were no zero before they were rounded
  all_negative,     ///< those too, and a zero of either sign is a negative one
};

/// How an upper half of an fp32 pattern becomes a code. Magnitudes are upper halves, 15 bits: exponent field << 7 | 7 bits of mantissa.
struct RoundingPlan {
  uint16_t largest;        ///< the largest element's magnitude, its exponent counted from that of half of the smallest positive one
  uint16_t mantissa_bits;  ///< of an element, at most 5
  uint16_t addend;         ///< added below the rounding point: 0x7F rounds to nearest, 0 toward zero
  uint16_t even;           ///< 1: ties go to the even neighbour; 0: toward zero
  uint16_t sticky;         ///< 1: ties go away from zero: set in every magnitude, it lifts them above the tie
  ZeroSigns zeros;
  uint16_t width;  ///< bits of a code; codes of 4 bits share a byte, the first one in the low nibble, others have a byte each
};

}  // namespace mx::kernels
