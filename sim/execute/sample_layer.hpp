#pragma once
// Layers and tokens generated from a seed, in any weight format: what a simulation runs on when there is no checkpoint.

#include <cstdint>
#include <vector>

#include "model/layout/packed.hpp"
#include "model/moe/routing.hpp"

namespace mx::sim {

/// Codes of every kind that the format has; scales such that outputs are of about unit size. The same bytes for the same arguments. Biases are bf16
/// numbers below 1 where they are wanted. Throws Error(usage) as layout::check does.
layout::CanonicalLayer sample_layer(const layout::Sizes& sizes, const layout::Form& form, bool with_bias, std::uint64_t seed);

/// Tokens with their routing: top_k different experts each, weights by softmax over fp32 logits.
struct SampleTokens {
  std::vector<std::uint32_t> x;               ///< bf16 codes [tokens, hidden], magnitudes 2^-4 to 4
  std::vector<std::vector<moe::Slot>> slots;  ///< by token, descending weight
};
/// Throws Error(usage) when top_k is not in 1..experts.
SampleTokens sample_tokens(std::int64_t tokens, std::int64_t hidden, std::int64_t experts, std::int64_t top_k, std::uint64_t seed);

/// fp32 bits of a power of two. exponent -126..127.
constexpr std::uint32_t power_of_two(int exponent) { return static_cast<std::uint32_t>(exponent + 127) << 23U; }

}  // namespace mx::sim
