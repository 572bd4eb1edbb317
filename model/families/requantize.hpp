#pragma once
// FP8 weights in blocks of 128 x 128, quantized anew for scales that are powers of two: what DeepGEMM's preparation does to each block.

#include <cstdint>
#include <span>

namespace mx::families {

/// One block's codes for a scale that is a power of two, in the place of those for `scale`; returns it, fp32 bits.
/// Source: vllm fp8_utils.py requant_weight_ue8m0_inplace; outputs of an H100.
std::uint32_t requantize_block(std::span<std::uint8_t> codes, std::uint32_t scale);

}  // namespace mx::families
