#pragma once
// What several families' converters do to a tensor as it was loaded: keep it, or order and pad its rows and columns as those of one matrix, in which
// gate and up are halves. Padding comes behind the whole matrix, not behind each half.

#include "model/families/memory.hpp"

namespace mx::families {

/// A tensor in the loaded buffer as it is.
layout::TensorPlan as_loaded(layout::Role role, const Setting& setting);

/// The loaded buffer in units of its format, its rows as one axis `rows`.
layout::Layout loaded_units(layout::Role role, const Setting& setting);

/// What is ordered and padded: weights and scales that are matrices. Biases and numbers of an expert stay.
bool moves(layout::Role role);

/// Zero rows behind all others, and zero columns, up to a matrix of these sizes.
void pad_matrix(layout::Layout& layout, layout::Role role, const Setting& setting, const layout::Sizes& sizes);

/// How a converter orders the rows of w13.
using RowOrder = void (*)(layout::Layout& layout, const Setting& setting);
void rows_kept(layout::Layout& layout, const Setting& setting);
void rows_up_first(layout::Layout& layout, const Setting& setting);  ///< all up rows before all gate rows

/// NVFP4 for kernels that differ in the order of the rows of w13: scales go into the 128x4 tile. One shard is padded to what the tile takes, gate and
/// up are not.
inline constexpr ConverterPadding kNvfp4TilePadding{.not_gated = 128};
layout::TensorPlan nvfp4_tiled(layout::Role role, const Setting& setting, RowOrder order);

/// FP8 with scales per tensor: weights padded, then the halves of the padded matrix swapped.
inline constexpr ConverterPadding kFp8TensorPadding{.gated = 16, .not_gated = 128};
layout::Layout fp8_padded_up_first(layout::Role role, const Setting& setting);
/// FP8 with scales of blocks or groups, MXFP8: weights and scales up first.
layout::Layout fp8_up_first(layout::Role role, const Setting& setting);

}  // namespace mx::families
