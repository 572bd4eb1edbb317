#pragma once
// A checkpoint's layer, cut into the ranks of tensor parallelism and put together again: a shard is a slice of the logical tensor.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/layout/packed.hpp"

namespace mx::checkpoint {

/// Consecutive entries of the checkpoint's intermediate size.
struct Interval {
  std::int64_t first;
  std::int64_t count;
};

/// How an engine's loader cuts a checkpoint.
struct LoaderRow {
  std::string_view name;
  bool (*takes)(const layout::Form& form);
  /// Rank `rank` of `tp`: its part of an intermediate size, copied to the front of a buffer of `allocated` entries.
  Interval (*cut)(std::int64_t intermediate, std::int64_t allocated, int rank, int tp);
  bool floors_experts;  ///< rank r holds experts r * (G / ep) and on, whatever the expert map says
  std::string_view source;
};
/// First match.
std::span<const LoaderRow> loader_rows();
const LoaderRow& loader_of(const layout::Form& form);

/// What the engine loads onto the first of `tp` ranks of a layer of these sizes, whose buffers it makes for `allocated` entries of I: as many as the
/// buffer holds, of gpt-oss' MXFP4 equal parts in whole blocks of 32. The last ranks may be short: behind their part are zeros. Throws Error(usage)
/// where I does not divide, as the engine asserts, and where a part holds no whole groups or blocks of scales. `group`: as RankPart has it.
layout::Sizes rank_sizes(const layout::Sizes& whole, const layout::Form& form, int tp, std::int64_t allocated, std::int64_t group = 0);
/// Of buffers that are not rounded up: I / tp.
layout::Sizes rank_sizes(const layout::Sizes& whole, const layout::Form& form, int tp);

/// A rank of several, each of which has as many entries of I.
struct RankPart {
  int rank = 0;
  int tp = 1;
  std::int64_t intermediate = 0;  ///< of one rank, as rank_sizes() has it
  std::int64_t group = 0;         ///< that rank's, of squares with a side that divides the layer's; 0: the layer's

  /// What the rank has of a layer of these sizes.
  layout::Sizes sizes_of(const layout::Sizes& whole) const;
  /// Whether that is the layer itself.
  bool is_whole(const layout::Sizes& whole) const { return sizes_of(whole) == whole; }
};

/// What a rank has of a tensor: its memory, as a layout of the whole logical tensor. None where a tensor is whole on every rank.
std::optional<layout::Layout> rank_layout(layout::Role role, const layout::Sizes& whole, const layout::Form& form, const RankPart& part);
/// The memory of all ranks, one behind the other, likewise; whichever rank the part is of.
std::optional<layout::Layout> ranks_layout(layout::Role role, const layout::Sizes& whole, const layout::Form& form, const RankPart& part);

/// A rank's layer: its rows of gate and up, and columns of w2; the w2 bias is on every rank (only the first adds it). Throws Error(usage) for a rank
/// that is not there.
layout::CanonicalLayer shard(const layout::CanonicalLayer& layer, const RankPart& part, const layout::Mover& mover = layout::kMoveByUnits);

/// The layer of these sizes that every rank was cut from, the ranks in order. Throws Error(input) when their tensors are not of one size, or when
/// what is whole on every rank differs between them.
layout::CanonicalLayer join(std::vector<layout::CanonicalLayer> ranks, const layout::Sizes& whole, const layout::Mover& mover = layout::kMoveByUnits);

}  // namespace mx::checkpoint
