#pragma once
// The one body of the quantize functions, compiled for each tier. Nothing here has a linkage that another tier could pick up.

#include <stdint.h>
#include <string.h>

#include "kernels/moe/quantize.hpp"

namespace mx::kernels::moe {
namespace {

inline bool quantize_lanes(const float* x, int8_t* codes, uint8_t* scale) {
  int32_t largest = 0;
  for (int i = 0; i < kQuantizedBlock; ++i) {
    // Each number by itself: an array of them would be stored in other pieces than it is loaded in.
    uint32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    const auto magnitude = static_cast<int32_t>(bits & 0x7FFFFFFFU);
    largest = largest < magnitude ? magnitude : largest;
  }
  const int32_t field = largest >> 23;
  *scale = static_cast<uint8_t>(field);
  // 2^6 over the scale; outside of the range it is not used.
  const int32_t units_bits = (127 + 6 + 127 - (field < 16 ? 16 : field > 240 ? 240 : field)) << 23;
  float units;
  memcpy(&units, &units_bits, sizeof units);
  // Adding it leaves the nearest integer in the low bits.
  constexpr float kRounder = 0x1.8p+23F;
  constexpr int32_t kRounderBits = 0x4B400000;
  int32_t rounded[kQuantizedBlock];
  for (int i = 0; i < kQuantizedBlock; ++i) {
    const float sum = x[i] * units + kRounder;
    memcpy(&rounded[i], &sum, sizeof sum);
  }
  for (int i = 0; i < kQuantizedBlock; ++i) {
    const int32_t integer = rounded[i] - kRounderBits;
    const int32_t below = integer > 127 ? 127 : integer;
    codes[i] = static_cast<int8_t>(below < -127 ? -127 : below);
  }
  return field >= 16 && field <= 240;
}

}  // namespace
}  // namespace mx::kernels::moe
