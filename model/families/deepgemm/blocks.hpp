#pragma once
// DeepGEMM's scale forms, as blocks on the last axes [rows, cols] of a view. Source: deepseek-ai/DeepGEMM, csrc/jit_kernels/impls/smxx_layout.hpp.

#include <string_view>

#include "model/layout/layout.hpp"

namespace mx::families::blocks {

/// Four e8m0 bytes of a row to a word, words column by column (sm100). Columns are zero-padded to 4; rows to 4, which the kernel leaves unwritten.
/// The units are bytes, or fp32 of which the exponent's 8 bits are taken. The view must be [batch, rows, cols].
layout::Layout& deepgemm_packed_ue8m0(layout::Layout& layout, std::string_view rows, std::string_view cols);
/// Column by column (sm90); rows padded to 4, unwritten. The view must be [batch, rows, cols].
layout::Layout& deepgemm_mn_major(layout::Layout& layout, std::string_view rows, std::string_view cols);

}  // namespace mx::families::blocks
