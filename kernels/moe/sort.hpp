#pragma once
// Pairs of token and expert, ordered by expert: what the products of a layer work through.

#include <cstdint>
#include <span>
#include <vector>

namespace mx::kernels::moe {

/// The pairs that a rank computes. Pairs of one expert stand together, in the order of tokens and slots.
struct SortedPairs {
  std::vector<std::size_t> group_sizes;  ///< pairs of each expert
  std::vector<std::uint32_t> slot_of;    ///< index of each sorted pair among all slots: token * top_k + slot
  std::vector<std::int32_t> place_of;    ///< index of each slot among the sorted pairs, or -1
};

/// Counting sort of the slots [tokens * top_k] by the rank's expert, which `map` gives (empty: the expert itself). Slots of experts that the rank
/// does not hold (-1) are left out. Throws Error(usage) for an expert that does not exist, for a map with any entry that is neither -1 nor one of the
/// rank's, and for more than 2^31 - 1 slots or experts.
SortedPairs sort_pairs(std::span<const std::int32_t> experts_of_slots, std::span<const std::int32_t> map, std::size_t experts);

}  // namespace mx::kernels::moe
