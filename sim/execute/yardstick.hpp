#pragma once
// What the model itself asks for, and how far results are from it.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/execute/kernel.hpp"
#include "sim/execute/sample_layer.hpp"

namespace mx::sim {

/// The layer without quantized activations: every product the exact sum rounded once to fp32, the activation in fp32 with the model's own constants,
/// the weighted sum exact and rounded once. fp32 bits [tokens, columns]. Of the outputs wanted; activations that are
/// not count as zero.
std::vector<std::uint32_t> exact_output(const Weights& weights, const ModelActivation& activation, const SampleTokens& tokens, std::int64_t hidden,
                                        const Outputs& outputs, SumsBy by);

/// How far bf16 results are from the yardstick.
struct Quality {
  double sqnr_db = 0;           ///< 10 log10(sum of squares / sum of squared differences); Inf when equal, NaN when a result is none
  double max_ulps = 0;          ///< largest difference in bf16 ulps of the token's largest output
  std::int64_t not_finite = 0;  ///< results that are NaN or Inf
};
Quality quality(std::span<const std::uint32_t> exact, std::span<const std::uint32_t> got, std::size_t columns);

}  // namespace mx::sim
