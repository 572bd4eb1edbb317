#pragma once
// NVFP4: blocks of 16 E2M1 codes with an E4M3 scale and one fp32 scale of the tensor.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"

namespace mx {

struct Nvfp4Recipe {
  Conversion element;
};

/// quantize_block for this family; the length has been checked.
QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const Nvfp4Recipe& how,
                        const TensorScale& tensor);

}  // namespace mx
