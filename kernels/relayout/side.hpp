#pragma once
// One side of a move as digits: a layout whose padding has been taken to the front of its program, where it only makes logical axes longer.

#include <cstdint>
#include <optional>
#include <vector>

#include "model/layout/layout.hpp"

namespace mx::kernels::relayout {

/// Indexes of a logical axis from `limit` on are padding.
struct PadLimit {
  int axis;
  std::int64_t limit;
  layout::PadContent content;
};

/// Memory = digits of the padded axes, then a permutation inside each word of neighbouring grains.
struct Side {
  std::vector<layout::Axis> axes;     ///< the logical axes with their extents after padding
  std::vector<layout::Digit> digits;  ///< a bijection between the padded axes and memory, sorted by stride
  std::vector<PadLimit> pads;         ///< in the program's order: of several that hold the last one says what is there
  std::vector<std::int64_t> word;     ///< grain word[i] of a word's memory holds grain i of the digits' memory; empty: words are as they are
  int grain_bits;
};

/// The layout as a side; none when it carries: a pad in mid-chain, a split across a digit, a slice, copies of elements, a table elsewhere than at the
/// end of the program.
std::optional<Side> side_of(const layout::Layout& layout);

/// `layout` with its grains cut as `like` cuts them, so that both speak of the same units; none when it cannot be.
std::optional<layout::Layout> exploded_like(const layout::Layout& layout, const layout::Layout& like);

}  // namespace mx::kernels::relayout
