#pragma once
// How the CPU kernels (AMX) pack weights and scales in blocks of 32 rows, for their blocks and their backend. Axes [batch, rows, cols].

#include <string_view>

#include "model/layout/layout.hpp"

namespace mx::families::blocks {

/// 4-bit weights of a view [.., rows, cols] of nibbles, rows a multiple of 16, columns even. A last block of 16 rows is read as if it had 32: of it
/// only the first 8 rows arrive, and every high nibble holds what was there before.
layout::Layout& cpu_nibbles(layout::Layout& layout, std::string_view rows, std::string_view cols);
/// Weights of 8 or 16 bits: within a block pairs of columns, all rows of a pair together; a last block of 16 rows is packed as one of 16.
layout::Layout& cpu_vnni2(layout::Layout& layout, std::string_view rows, std::string_view cols);
/// Scales: every block of 32 rows transposed.
layout::Layout& cpu_scale(layout::Layout& layout, std::string_view rows, std::string_view cols);

}  // namespace mx::families::blocks
