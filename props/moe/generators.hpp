#pragma once
// Random routers' inputs, layers and routed tokens for the laws of the layer.

#include <cstdint>
#include <vector>

#include "model/moe/layer.hpp"
#include "props/moe/restated.hpp"

namespace mx::props {

/// Logits of every kind that routers have failed on: spread, few values (ties), all negative, saturated, all equal, with a NaN or an Inf. Biases of
/// both signs, large ones among them; the sizes fit together.
RouterInput random_router_input(const RestatedRouter& router);

/// Logits of which no two are equal, ordered at random.
std::vector<float> distinct_logits(std::int64_t count);

/// A random order of 0..count-1.
std::vector<std::int64_t> random_order_of(std::int64_t count);

/// A gpt-oss layer with random codes, scales near 1 and biases that no two experts share.
layout::CanonicalLayer random_moe_layer(const layout::Sizes& sizes);

/// bf16 codes between -2 and 2.
std::vector<std::uint32_t> random_tokens(std::int64_t count);

/// Slots of different experts with weights that are multiples of 1/256, at most 1: products with bf16 numbers need 17 bits.
std::vector<std::vector<moe::Slot>> random_slots(std::int64_t tokens, std::int64_t experts, std::int64_t top_k);

}  // namespace mx::props
