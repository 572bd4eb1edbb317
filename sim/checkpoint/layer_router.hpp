#pragma once
// Which experts a checkpoint's own router sends tokens to: its tensors by name, its way by the configuration.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/moe/routing.hpp"
#include "sim/checkpoint/checkpoint_files.hpp"

namespace mx::sim {

/// A router of one layer, numbers as fp32 bits.
struct LayerRouter {
  const moe::RouterRecipe* recipe;
  std::int64_t groups = 1;
  std::int64_t topk_groups = 1;
  std::uint32_t factor = 0x3F800000U;         ///< of every weight
  std::vector<std::uint32_t> weight;          ///< [E, H]
  std::vector<std::uint32_t> correction;      ///< [E], added to the choice; empty: none
  std::vector<std::uint32_t> expert_factors;  ///< [E], multiplied into an expert's weight at last; empty: none
  std::vector<std::uint32_t> input_scale;  ///< [H]: inputs are normalized by their root mean square, then times this / sqrt(H); empty: they are not
  double epsilon = 0;                      ///< of that root

  /// The router of `all` experts as if there were no more than the first; then groups of them are gone.
  LayerRouter first(std::int64_t experts, std::int64_t all) const;
  /// Slots of every token; x are bf16 codes [tokens, hidden].
  std::vector<std::vector<moe::Slot>> route(std::span<const std::uint32_t> x, std::int64_t hidden, std::int64_t top_k) const;
};

/// The router behind a layer's prefix ("model.layers.0.mlp"); none where no tensor has such a name. Throws Error(input) where its shapes contradict
/// the sizes or the configuration has no such number of groups, Error(unsupported) where the configuration names a way that is not known here.
std::optional<LayerRouter> read_router(const CheckpointFiles& files, const CheckpointConfig& config, std::string_view prefix, std::int64_t experts,
                                       std::int64_t hidden);

}  // namespace mx::sim
