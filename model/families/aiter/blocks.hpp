#pragma once
// The tiles of AITER's weight and scale shuffles, for its blocks and its backends. `rows` and `cols` are the last two axes of the view.

#include <cstdint>
#include <string_view>

#include "model/layout/layout.hpp"

namespace mx::families::blocks {

/// shuffle_weight, layout (16, 16): 16 rows by 32 elements (of 4 bits: by 32 bytes), within them 16-byte chunks of all rows.
layout::Layout& aiter_weight(layout::Layout& layout, std::string_view rows, std::string_view cols);
/// Elements across such a tile.
std::int64_t aiter_weight_columns(int unit_bits);
/// shuffle_weight_a16w4, 16 lanes: 16 rows by 64 bytes; with `gate_up` tiles of the two halves of the rows alternate.
layout::Layout& aiter_weight_a16w4(layout::Layout& layout, std::string_view rows, std::string_view cols, bool gate_up);
/// shuffle_scale_a16w4: columns padded to 8 with 0x7F, 32 rows by 8; the pair of 16-row groups is 16 rows of each half with `gate_up`, else
/// neighbours.
layout::Layout& aiter_scale_a16w4(layout::Layout& layout, std::string_view rows, std::string_view cols, bool gate_up);
/// e8m0_shuffle over the experts of `batch` stacked: rows padded to 256 and columns to 8, both left unwritten, in tiles of 32 by 8.
layout::Layout& aiter_e8m0(layout::Layout& layout, std::string_view batch, std::string_view rows, std::string_view cols);
/// Tiles of `height` rows by `width` columns, each row-major, themselves row-major.
layout::Layout& tiles(layout::Layout& layout, std::string_view rows, std::string_view cols, std::int64_t height, std::int64_t width);

}  // namespace mx::families::blocks
