#pragma once
// Totals of rows [row][32] that kernels keep beside a panel that they decode once, stretch by stretch of K, for all rows. As avx512_lanes.hpp:
// nothing here has a linkage that another tier could pick up.

#include "kernels/moe/avx512_lanes.hpp"

namespace mx::kernels::moe {
namespace {

MXACT_INLINE void clear(float* totals, size_t height) {
  for (size_t i = 0; i < height * kPanelColumns; ++i) totals[i] = 0;
}

/// Rows of a tile that is complete. Its stores are under way while the next tile is computed.
MXACT_INLINE void put(const TileArgs& args, size_t panel, size_t row, size_t height, const float* totals) {
  for (size_t m = 0; m < height; ++m) {
    const float* const of_row = totals + m * kPanelColumns;
    const __m512 sums[1][2] = {{_mm512_load_ps(of_row), _mm512_load_ps(of_row + 16)}};
    Outputs(args, panel, row + m).store(sums);
  }
}

}  // namespace
}  // namespace mx::kernels::moe
