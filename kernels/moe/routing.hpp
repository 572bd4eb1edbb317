#pragma once
// The fast twin of the routers: experts and weights of many tokens at once, equal to mx::moe::route_logits in fp32 bit for bit.

#include <cstdint>
#include <span>

#include "kernels/isa.hpp"
#include "model/moe/routing.hpp"

namespace mx::kernels::moe {

/// Room for what routing gives: [tokens, top_k] each, a token's slots in the order of its choice.
struct RoutedRoom {
  std::span<std::int32_t> experts;
  std::span<float> weights;
};

/// Routes tokens by their fp32 logits [tokens, experts]; `bias` [experts] where the recipe's choice adds it, else empty. The same bits for any number
/// of threads, 1 to kMostThreads. Before anything is written, Error(usage) for sizes that disagree, more than 65536 experts, what route_logits
/// refuses, and for a room that is misaligned or overlaps an input; Error(unsupported) for a tier that does not run here.
void route(const mx::moe::RouterRecipe& recipe, const mx::moe::RouterSizes& sizes, std::span<const float> logits, std::size_t experts,
           std::span<const float> bias, const RoutedRoom& out, const IsaTier& tier, int threads);

}  // namespace mx::kernels::moe
