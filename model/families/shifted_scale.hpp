#pragma once
// E8M0 scales and FP8 weights as 16-bit kernels of Hopper read them.

#include "model/numerics/value.hpp"

namespace mx::families {

/// 2^(byte - 127) as a shift into bf16's exponent has it: 0 is zero, not 2^-127; 255 is Inf, not NaN.
/// Source: outputs of an H100, triton_kernels, Marlin and Humming (golden/witness/hardware).
inline Value shifted_scale(std::uint32_t byte) {
  constexpr std::uint32_t kLargest = 0xFF;
  if (byte == 0) return {};
  if (byte == kLargest) return {.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = false};
  return decode(kE8m0, byte);
}

/// An e4m3fn weight whose bits are moved into bf16: 0x7F and 0xFF are 480 and -480. Source: as above, Marlin and Humming.
inline Value moved_weight(std::uint32_t code) {
  constexpr std::uint32_t kMagnitude = 0x7F;
  if ((code & kMagnitude) == kMagnitude) return {.significand = 480, .exponent = 0, .cls = ValueClass::finite, .negative = code > kMagnitude};
  return decode(kE4m3fn, code);
}

}  // namespace mx::families
