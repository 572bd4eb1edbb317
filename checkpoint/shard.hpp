#pragma once
// A checkpoint's layer, cut into the ranks of tensor parallelism and put together again: a shard is a slice of the logical tensor.

#include <optional>
#include <vector>

#include "model/layout/packed.hpp"

namespace mx::checkpoint {

/// Throws Error(usage) when I / tp is not a whole number of scale groups, or of scale blocks.
void check_cut(const layout::Sizes& sizes, layout::WeightFormat format, int tp);

/// What rank `rank` of `tp` has of a tensor: its memory, as a layout of the whole logical tensor. None where a tensor is whole on every rank.
std::optional<layout::Layout> rank_layout(layout::Role role, const layout::Sizes& whole, const layout::Form& form, int rank, int tp);
/// The memory of all ranks, one behind the other, likewise.
std::optional<layout::Layout> ranks_layout(layout::Role role, const layout::Sizes& whole, const layout::Form& form, int tp);

/// Rank `rank` of `tp`: rows of gate and up, and columns of w2, from rank * I / tp on; the w2 bias is on every rank (only the first adds it).
/// Throws as check_cut does.
layout::CanonicalLayer shard(const layout::CanonicalLayer& layer, int rank, int tp, const layout::Mover& mover = layout::kMoveByUnits);

/// What every rank of one layer was cut from, the ranks in order. Throws Error(input) when their tensors are not of one size, or when what is whole
/// on every rank differs between them.
layout::CanonicalLayer join(std::vector<layout::CanonicalLayer> ranks, const layout::Mover& mover = layout::kMoveByUnits);

}  // namespace mx::checkpoint
