#pragma once
// Elements scaled by any fp32 number, as plain numbers for kernels of every instruction set. C headers only: see mxact_isa_sources.

#include <stddef.h>
#include <stdint.h>

#include "kernels/codec/rounding_plan.hpp"

namespace mx::kernels {

/// How a scaled element becomes a code: multiplied by `before`, under the factor, perhaps rounded to the source's type, multiplied by `behind`, then
/// rounded to an odd upper half of its fp32 pattern, then as in RoundingPlan; whole numbers from the fp32 number.
struct ScaledPlan {
  ElementSource source;
  float before;        ///< 1: no such step
  uint32_t divides;    ///< not 0: the element is divided by the factor, else multiplied
  uint32_t narrows;    ///< not 0: the scaled element is rounded to the source's type, to nearest, ties to even
  float behind;        ///< 1: no such step
  uint32_t doubts;     ///< not 0: groups with a scaled magnitude within 2^-17 below a power of two are irregular
  uint16_t half_unit;  ///< upper half of the pattern of half of the smallest positive element
  RoundingPlan rounding;
  float units;       ///< not 0: codes are two's complement numbers of 8 bits that count units of 1 / units, as many on both sides of zero
  uint32_t streams;  ///< not 0: codes go past the caches
};

/// What a caller works on at a time: largest magnitudes and codes of so many elements, in turn. Meanwhile kernels ask for what lies behind them.
inline constexpr size_t kScaledChunk = 2048;

/// Bits of the largest fp32 magnitude of each of `groups` groups of `length` elements that stand one after the other; above 0x7F800000 where one of
/// them is a NaN.
using LargestMagnitudes = void(ElementSource source, const void* elements, size_t groups, size_t length, uint32_t* amax);

/// Codes of such groups of finite elements, each under a finite factor that is not 0, given by its fp32 bits; what is above the largest element
/// saturates. An even length where codes share bytes. Sets bit g % 64 of irregular[g / 64] for an irregular group g, whose codes mean nothing; leaves
/// the other bits alone.
using ScaledEncode = void(const ScaledPlan& plan, const void* elements, size_t groups, size_t length, const uint32_t* factors, uint8_t* codes,
                          uint64_t* irregular);

LargestMagnitudes largest_magnitudes_portable;
LargestMagnitudes largest_magnitudes_avx2;
LargestMagnitudes largest_magnitudes_avx512;
LargestMagnitudes largest_magnitudes_neon;
ScaledEncode scaled_encode_portable;
ScaledEncode scaled_encode_avx2;
ScaledEncode scaled_encode_avx512;
ScaledEncode scaled_encode_neon;

}  // namespace mx::kernels
