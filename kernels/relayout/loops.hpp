#pragma once
// The order of the loops around tiles.

#include "kernels/relayout/tile.hpp"

namespace mx::kernels::relayout {

/// Where lines are written whole a source is read one run behind the other; else what is left of a line is written soon. Loops are as long as they
/// can be; those that fill a stage are the innermost ones, and there is at least one of them. `quick`: a tile takes no longer than what a row takes
/// by itself.
void order_loops(Tiles& tiles, bool quick);

/// Rows of few tiles are moved together: what a row takes by itself would take as long as its tiles.
void choose_block(Tiles& tiles);

}  // namespace mx::kernels::relayout
