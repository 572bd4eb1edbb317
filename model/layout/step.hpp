#pragma once
// The steps of a view program. Each has a domain, a codomain and an inverse, or says what it loses.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace mx::layout {

/// What a padded position holds in memory.
enum class PadContent {
  zero,       ///< bytes 0 (nibble 0, scale byte 0 = 2^-127, bias 0)
  neutral,    ///< scale byte 0x7F, one
  unwritten,  ///< whatever was there: never compare it
};

/// One axis of a tensor, slowest first in a shape.
struct Axis {
  std::string name;
  std::int64_t extent = 1;
  friend bool operator==(const Axis&, const Axis&) = default;
};

/// axis [N] -> two axes [N/inner, inner]. N must be a multiple of inner.
struct Split {
  int axis;
  std::int64_t inner;
};
/// `count` neighbouring axes starting at `axis` -> one axis.
struct Merge {
  int axis;
  int count;
};
/// New axis i is old axis order[i].
struct Permute {
  std::vector<int> order;
};
/// Index i -> N-1-i (swaps gate and up on an axis of 2).
struct Flip {
  int axis;
};
/// axis [N] -> [extent]; positions N.. hold `content`. extent >= N.
struct Pad {
  int axis;
  std::int64_t extent;
  PadContent content;
};
/// axis [N] -> [length], keeping begin .. begin+length-1. Loses the rest.
struct Slice {
  int axis;
  std::int64_t begin;
  std::int64_t length;
};
/// axis [N] -> [N * times]; position p holds index p / times. Of an index's places the first is the one that `forward` names.
struct Repeat {
  int axis;
  std::int64_t times;
};
/// Every grain becomes a trailing axis of grain_bits/bits smaller grains, low bits first. The coordinate grows by that axis.
struct Explode {
  int bits;
};
/// The trailing axis becomes part of the unit: it leaves the view, later steps move whole units. Addresses still count grains.
struct Pack {};
/// Index j of the new axis holds index source[j] of the old one; a permutation, and target is its inverse.
struct Table {
  int axis;
  std::vector<std::int64_t> source;
  std::vector<std::int64_t> target;
};

using Step = std::variant<Split, Merge, Permute, Flip, Pad, Slice, Explode, Pack, Table, Repeat>;

/// Moves a coordinate through one step, from the axes before it to those after it; false when a Slice drops it. Explode takes the index of its
/// new axis from `*exploded`, which it advances.
bool forward(const Step& step, const std::vector<Axis>& before, std::vector<std::int64_t>& coord, const std::int64_t*& exploded);

/// Moves a coordinate back through one step; false when the position is padding that this step added. Explode appends the index of its axis to
/// `exploded`, so that the axes of several Explodes come out last first.
bool backward(const Step& step, const std::vector<Axis>& before, std::vector<std::int64_t>& coord, std::vector<std::int64_t>& exploded);

/// One line for people: "split I by 32".
std::string describe(const Step& step, const std::vector<Axis>& before);

}  // namespace mx::layout
