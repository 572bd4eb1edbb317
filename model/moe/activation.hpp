#pragma once
// Activations between the two GEMMs of an expert, on fp32 bits, in a declared order of operations.

#include <cstdint>

namespace mx::moe {

/// Constants of SwiGLU-OAI as fp32 bits.
struct SwigluOai {
  std::uint32_t alpha = 0x3FD9DB23U;  ///< 1.702
  std::uint32_t beta = 0x3F800000U;   ///< 1
  std::uint32_t limit = 0x40E00000U;  ///< 7
};

/// g = min(gate, limit); u = clamp(up, -limit, limit); s = g / (1 + exp(-(alpha * g))); result s * (u + beta). Every operation is one
/// fp32 rounding, exp is correctly rounded, a NaN stays NaN (torch.clamp's rule).
/// Source: openai/gpt-oss gpt_oss/torch/model.py swiglu; transformers modeling_gpt_oss.py GptOssExperts.
std::uint32_t swiglu_oai(std::uint32_t gate, std::uint32_t up, const SwigluOai& constants);

}  // namespace mx::moe
