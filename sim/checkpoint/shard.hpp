#pragma once
// A checkpoint's layer, cut into the ranks of tensor parallelism and put together again: a shard is a slice of the logical tensor.

#include <vector>

#include "model/layout/packed.hpp"

namespace mx::sim {

/// Throws Error(usage) when I / tp is not a whole number of scale groups, or of scale blocks.
void check_cut(const layout::Sizes& sizes, layout::WeightFormat format, int tp);

/// Rank `rank` of `tp`: rows of gate and up, and columns of w2, from rank * I / tp on; the w2 bias is on every rank (only the first adds it).
/// Throws as check_cut does.
layout::CanonicalLayer shard(const layout::CanonicalLayer& layer, int rank, int tp, const layout::Mover& mover = layout::kMoveByUnits);

/// What every rank of one layer was cut from, the ranks in order. Throws Error(input) when their tensors are not of one size, or when what is whole
/// on every rank differs between them.
layout::CanonicalLayer join(std::vector<layout::CanonicalLayer> ranks, const layout::Mover& mover = layout::kMoveByUnits);

}  // namespace mx::sim
