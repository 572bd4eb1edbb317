#pragma once
// How implementations turn codes and scales back into numbers: what they do with scale bytes 0, 254 and 255, and with products out of range.

#include <cstdint>
#include <string_view>

#include "model/numerics/block.hpp"

namespace mx {

struct Dequantizer {
  const BlockFormat* format;
  const Format* target;
  std::string_view source;
};

/// Target code of one element as the implementation computes it. `tensor` is the decode scale of two-level formats.
/// Throws Error(usage) for a tensor scale that is missing or not taken.
std::uint32_t dequantize(std::uint32_t code, std::uint32_t scale, const Dequantizer& how, const TensorScale& tensor = {});

}  // namespace mx
