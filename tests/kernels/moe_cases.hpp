#pragma once
// Layers with tokens and choices for the tests of the fused layer, and what the model makes of them.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/moe/layer.hpp"
#include "tests/moe/any_layer.hpp"

namespace mx::tests {

/// A layer, its tokens, and what to do with them.
struct Case {
  CanonicalLayer layer;
  std::vector<std::uint16_t> x;
  std::vector<std::int32_t> experts;
  std::vector<float> weights;
  std::vector<std::int32_t> map;
  std::size_t top_k;

  std::size_t tokens() const { return experts.size() / top_k; }
  std::size_t hidden() const { return static_cast<std::size_t>(layer.sizes.hidden); }
  kernels::moe::RoutedTokens routed() const { return {.x = x, .experts = experts, .weights = weights, .top_k = top_k, .expert_map = map}; }
};

inline constexpr WeightFormat kFormats[] = {WeightFormat::mxfp4,     WeightFormat::mxfp8,       WeightFormat::nvfp4,
                                            WeightFormat::fp8_block, WeightFormat::fp8_channel, WeightFormat::fp8_tensor};

inline constexpr Contract kContracts[] = {Contract::bf16_chain, Contract::bf16_block, Contract::bf16_pair, Contract::int8_block};

/// True when the contract takes such weights: int8-block those whose codes are integers of 8 bits times a fixed unit.
inline bool takes(Contract contract, WeightFormat format) {
  return contract != Contract::int8_block || format == WeightFormat::mxfp4 || format == WeightFormat::nvfp4;
}

/// How large layers are: `wide` ones have now and then several stretches of K, that is more than an engine decodes at once, or several squares.
enum class Width { narrow, wide };

/// `extreme`: scales and activations of every kind. Some layers have an expert map with experts elsewhere, some all tokens on one expert.
Case any_case(std::mt19937& random, bool extreme, WeightFormat format = WeightFormat::mxfp4, bool gated = true, Width width = Width::narrow);

/// Moderate constants that the activation takes, others than its own unless they are compiled in.
mx::moe::ActivationConstants any_constants(std::mt19937& random, const mx::moe::Activation& row);

/// Any activation of the table with constants of its own or other ones, and activations quantized in any way that the contract and the layer take.
mx::moe::ScaledChoices any_choices(std::mt19937& random, Contract contract, const Case& c);

/// fp32 bits of the layer's output.
std::vector<std::uint32_t> modelled(const Case& c, const mx::moe::ScaledChoices& choices);
std::vector<std::uint32_t> run(const kernels::moe::PanelLayer& panels, const Case& c, const mx::moe::ScaledChoices& choices,
                               const kernels::IsaTier& tier, int threads);
/// The same, so many tokens at a time.
std::vector<std::uint32_t> run_split(const kernels::moe::PanelLayer& panels, const Case& c, const mx::moe::ScaledChoices& choices,
                                     const kernels::IsaTier& tier, int threads, std::size_t tokens);

std::vector<std::uint32_t> bits_of(std::span<const float> values);

/// Where the first difference is, for people; empty when there is none.
std::string difference(const std::vector<std::uint32_t>& found, const std::vector<std::uint32_t>& expected);

}  // namespace mx::tests
