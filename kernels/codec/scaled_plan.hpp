#pragma once
// Elements scaled by any fp32 number, as plain numbers for kernels of every instruction set. C headers only: see mxact_isa_sources.

#include <stddef.h>
#include <stdint.h>

#include "kernels/codec/power_plan.hpp"

namespace mx::kernels {

/// How a scaled element becomes a code: rounded to an odd upper half of its fp32 pattern, then as in PowerPlan.
struct ScaledPlan {
  ElementSource source;
  uint32_t divides;          ///< not 0: the element is divided by the factor, else multiplied
  uint16_t half_unit;        ///< upper half of the pattern of half of the smallest positive element
  uint16_t largest;          ///< the largest element's magnitude, its exponent counted from that of half of the smallest one
  uint16_t mantissa_bits;    ///< of an element, at most 5
  uint16_t even;             ///< 1: ties go to the even neighbour; 0: toward zero
  uint16_t keeps_zero_sign;  ///< 0xFFFF: a negative element that becomes zero keeps its sign; 0: it does not
  uint16_t width;            ///< bits of a code: 4 (two in a byte, the first one in the low nibble) or 8
};

/// Bits of the largest fp32 magnitude of `count` elements; above 0x7F800000 where one is a NaN.
using LargestMagnitude = uint32_t(ElementSource source, const void* elements, size_t count);

/// Codes of `count` finite elements under a finite factor that is not 0, given by its fp32 bits; what is above the largest element saturates.
/// An even count where codes share bytes.
using ScaledEncode = void(const ScaledPlan& plan, const void* elements, size_t count, uint32_t factor, uint8_t* codes);

LargestMagnitude largest_magnitude_portable;
LargestMagnitude largest_magnitude_avx512;
ScaledEncode scaled_encode_portable;
ScaledEncode scaled_encode_avx512;

}  // namespace mx::kernels
