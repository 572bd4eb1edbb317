#pragma once
// How the blocks of a grid share a product's output tiles along k: some tiles are whole, the steps of k of the others are numbered one tile after the
// other and cut into runs of one length. Kernels differ in which tiles are shared, and in the length.

#include <cstdint>
#include <vector>

namespace mx::families {

/// Steps of k of one tile that one block sums: [first, last).
struct KSlice {
  std::int64_t first;
  std::int64_t last;

  friend bool operator==(const KSlice&, const KSlice&) = default;
};

struct KCut {
  std::int64_t tiles;   ///< output tiles
  std::int64_t shared;  ///< how many of them, the last ones, are cut
  std::int64_t steps;   ///< of k, in each tile
  std::int64_t length;  ///< of a run, in steps

  /// The slices of a tile, k ascending; one for a tile that is whole. `tile` is below `tiles`.
  std::vector<KSlice> slices(std::int64_t tile) const;
};

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return ceil_div(value, multiple) * multiple; }

}  // namespace mx::families
