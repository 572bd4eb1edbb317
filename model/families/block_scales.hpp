#pragma once
// FP8 block scales on their way to FlashInfer's kernels: the converter raises those that a kernel made NaN of.

#include <vector>

#include "model/families/memory.hpp"

namespace mx::families {

/// fp32 scales below 1e-10 become 1e-10, which is reported as a loss.
void raise_block_scales(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses);
/// The way back: scales that were not raised are those of the checkpoint.
void keep_block_scales(layout::LayerUnits& units, const Setting& setting);

/// The row with that transform.
constexpr BackendLayout with_raised_scales(BackendLayout row) {
  row.values = raise_block_scales;
  row.undo_values = keep_block_scales;
  return row;
}

}  // namespace mx::families
