#pragma once
// vLLM's grouped FP8 product by CUTLASS on sm_90.

#include <cstdint>

#include "model/families/arithmetic.hpp"

namespace mx::families::vllm_cutlass {

/// Which scale is multiplied first: up to 64 slots the operands are exchanged. Source: outputs of an H100, vllm at 7e1b45a09 cutlass_moe_mm.
constexpr EpilogueScale scale_order(std::int64_t slots) {
  constexpr std::int64_t kExchanged = 64;
  return slots <= kExchanged ? EpilogueScale::activation_first : EpilogueScale::weight_first;
}

}  // namespace mx::families::vllm_cutlass
