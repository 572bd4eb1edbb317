#pragma once
// The one body of the dequantize functions, compiled for each tier. Nothing here has a linkage that another tier could pick up.

#include <stdint.h>
#include <string.h>

#include "kernels/moe/dequantize.hpp"

namespace mx::kernels::moe {
namespace {

inline void dequantize_lanes(uint16_t* codes, size_t count, float scale) {
  // Bits of a double behind the eighth significant one.
  constexpr uint64_t kBehind = (uint64_t{1} << 45) - 1;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t element_bits = static_cast<uint32_t>(codes[i]) << 16;
    float element;
    memcpy(&element, &element_bits, sizeof element);
    // The factors have 28 significant bits together at most.
    const double product = static_cast<double>(element) * static_cast<double>(scale);
    uint64_t bits;
    memcpy(&bits, &product, sizeof bits);
    bits = (bits + kBehind / 2 + (bits >> 45 & 1U)) & ~kBehind;
    double rounded;
    memcpy(&rounded, &bits, sizeof rounded);
    const float single = static_cast<float>(rounded);
    uint32_t single_bits;
    memcpy(&single_bits, &single, sizeof single_bits);
    codes[i] = single == single ? static_cast<uint16_t>(single_bits >> 16) : uint16_t{0x7FC0};
  }
}

}  // namespace
}  // namespace mx::kernels::moe
