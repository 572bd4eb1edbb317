#pragma once
// Closed formulas of the packed layouts, written from the converters' index arithmetic and independent of the view programs: the tables that the
// laws hold the programs against.

#include <cstdint>
#include <string_view>

#include "model/layout/tensor.hpp"

namespace mx::props {

/// Row maps, dst row r <- src row. Source: FlashInfer shuffle_matrix_a (epilogue tiles 128 and 64), reorder_rows_for_gated_act_gemm.
std::int64_t shuffled_row_128(std::int64_t r);
std::int64_t shuffled_row_64(std::int64_t r);
std::int64_t gated_row(std::int64_t r, std::int64_t rows);

/// Offset of scale (n, g) inside the 128x4 tiling of one expert with `padded_groups` columns. Source: FlashInfer block_scale_interleave_kernel.
std::int64_t scale_tile_offset(std::int64_t n, std::int64_t g, std::int64_t padded_groups);

/// The scale that lies at position `p` of that tiling.
struct ScalePlace {
  std::int64_t row;
  std::int64_t group;
};
ScalePlace scale_tile_place(std::int64_t p, std::int64_t padded_groups);

/// Row of the loaded w13 or w2 that backend row `r` comes from. `intermediate` is the padded one.
std::int64_t source_row(std::string_view backend, layout::Role role, layout::SourceOrder order, std::int64_t r, std::int64_t intermediate);

/// Whether the backend keeps its block scales in the 128x4 tile.
bool has_tiled_scales(std::string_view backend);

/// Unit of the checkpoint's tensor (nibble, scale byte or bias element, in its own memory order) that unit `u` of the packed tensor holds, or -1
/// for padding.
std::int64_t checkpoint_unit(std::string_view backend, layout::Role role, layout::SourceOrder order, const layout::Sizes& sizes,
                             const layout::Sizes& padded, std::int64_t u);

/// Units of the checkpoint's tensor, and of the packed one when given the padded sizes.
std::int64_t unit_count(layout::Role role, const layout::Sizes& sizes);

}  // namespace mx::props
