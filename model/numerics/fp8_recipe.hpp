#pragma once
// FP8 with fp32 scales per tensor, token, group or 128x128 block, static or dynamic.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"

namespace mx {

struct Fp8Recipe {
  Conversion element;
};

/// quantize_block for this family; the length has been checked.
QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const Fp8Recipe& how,
                        const TensorScale& tensor);

}  // namespace mx
