#pragma once
// Scales s = amax / max_normal of groups, as fp32 numbers or rounded up to powers of two: DeepGEMM, vLLM.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"

namespace mx {

struct GroupRecipe {
  Conversion element;
};

/// quantize_block for this family; the length has been checked.
QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const GroupRecipe& how,
                        const TensorScale& tensor);

}  // namespace mx
