#pragma once
// Which experts a checkpoint's own router sends tokens to: its tensors by name, its way by the configuration.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_files.hpp"
#include "checkpoint/router_facts.hpp"
#include "model/moe/routing.hpp"

namespace mx::checkpoint {

/// A table that gives a token its experts by its id.
struct HashTable {
  std::int64_t ids = 0;               ///< rows; 0: there is none
  std::int64_t top_k = 0;             ///< columns
  std::vector<std::int64_t> experts;  ///< [ids, top_k]
};

/// A router of one layer, numbers as fp32 bits.
struct LayerRouter {
  RouterFacts facts;
  std::vector<std::uint32_t> weight;          ///< [E, H]
  std::vector<std::uint32_t> bias;            ///< [E], of the logits; empty: none
  std::vector<std::uint32_t> correction;      ///< [E], added to the choice; empty: none
  std::vector<std::uint32_t> expert_factors;  ///< [E], multiplied into an expert's weight at last; empty: none
  std::vector<std::uint32_t> input_scale;  ///< [H]: inputs are normalized by their root mean square, then times this / sqrt(H); empty: they are not
  double epsilon = 0;                      ///< of that root
  HashTable table;

  /// Whether a row of the table of routers computes it.
  bool is_known() const { return facts.recipe != nullptr; }
  /// In words: the row and what else decides, or what is not known of it.
  std::string text() const;
  /// The router of `all` experts as if there were no more than the first; then groups of them and tables are gone.
  LayerRouter first(std::int64_t experts, std::int64_t all) const;
  /// Slots of every token, of a router that is known; x are bf16 codes [tokens, hidden]. Where a table gives the experts, token t has id t.
  /// Throws Error(usage) where it gives another number of them than top_k.
  std::vector<std::vector<moe::Slot>> route(std::span<const std::uint32_t> x, std::int64_t hidden, std::int64_t top_k) const;

 private:
  /// What the logits of a token are made from.
  std::vector<Value> input_of(std::span<const std::uint32_t> x) const;
};

/// The tensor with the rows of a layer's router, [E, H], and its name; null where no tensor has such a name.
std::pair<std::string, const LocatedTensor*> router_weight(const CheckpointFiles& files, std::string_view prefix);

/// The router behind a layer's prefix ("model.layers.0.mlp"); none where no tensor has such a name. Throws Error(input) where its shapes contradict
/// the sizes, and as router_facts does.
std::optional<LayerRouter> read_router(const CheckpointFiles& files, const CheckpointConfig& config, std::string_view prefix, std::int64_t experts,
                                       std::int64_t hidden);

}  // namespace mx::checkpoint
