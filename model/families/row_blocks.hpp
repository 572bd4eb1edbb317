#pragma once
// Reorders of the rows of a matrix as they lie in memory, whatever they hold: what converters do that do not know a checkpoint's row order.

#include <cstdint>
#include <string_view>

#include "model/families/building_block.hpp"
#include "model/families/setting.hpp"

namespace mx::families {

/// The buffer that an engine loads a tensor into, its rows as one axis named `rows` wherever it has any. Axes [E, rows] or [E, rows, columns], or
/// [E] of scales per expert; of scales of a pair the halves are the rows of w13. Throws Error(usage) as loaded() does.
layout::Layout loaded_rows(layout::Role role, const Setting& setting, int bits);

namespace blocks {

/// The lower half of the rows before the upper one; their number must be even.
layout::Layout& swap_halves(layout::Layout& layout, std::string_view rows);
/// Groups of `group` rows of the upper half and of the lower half alternate; the rows must be a multiple of 2 * group.
layout::Layout& alternate_halves(layout::Layout& layout, std::string_view rows, std::int64_t group);
/// All even rows before all odd ones; their number must be even.
layout::Layout& separate_pairs(layout::Layout& layout, std::string_view rows);

}  // namespace blocks

}  // namespace mx::families
