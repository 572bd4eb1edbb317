#pragma once
// Which layers have a tensor of a given shape.

#include <vector>

#include "verbs/layout/identify/candidates.hpp"

namespace mx::verbs {

/// Settings in which that tensor of a layer, as a checkpoint holds it, is such a matrix: one for each row order, gated or not, and each way to round
/// the sizes up. Empty when the tensor never has that shape. The size that the shape does not tell is kUnknownSize.
std::vector<families::Setting> settings_for(const families::BackendLayout& row, layout::Role role, const MatrixShape& matrix);

/// A multiple of every tile.
inline constexpr std::int64_t kUnknownSize = 1024;

}  // namespace mx::verbs
