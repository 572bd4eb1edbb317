#pragma once
// CUTLASS' mixed-input GEMM on Hopper (4-bit weights, 8- or 16-bit activations) as FlashInfer prepares it; blocks on the last axes [rows, cols] of a
// view. Source: flashinfer-ai/flashinfer, flashinfer/fused_moe/prepare.py and moe_gemm_mixed_utils.cu.

#include <cstdint>
#include <string_view>

#include "model/layout/layout.hpp"

namespace mx::families::blocks {

/// fp4 weights for bf16 activations: words of 4 bytes from two rows 8 apart, bits scattered by fp4word. Columns are bytes or 4-bit elements; rows
/// must be a multiple of 16, bytes of a row of 32.
layout::Layout& sm90_mixed_fp4(layout::Layout& layout, std::string_view rows, std::string_view cols);
/// The same before FlashInfer 0.6.18: bytes of two elements from rows 8 apart. Rows must be a multiple of 16, elements of a row of 64; columns are
/// bytes or 4-bit elements.
layout::Layout& sm90_mixed_fp4_nibbles(layout::Layout& layout, std::string_view rows, std::string_view cols);
/// Scales before 0.6.18: those of 128 elements of every row side by side. Columns must be a multiple of 128 / group_size.
layout::Layout& sm90_mixed_scale_lines(layout::Layout& layout, std::string_view rows, std::string_view cols, std::int64_t group_size);
/// Scales: 64 rows and the scales of 128 elements folded into lines of 16 bytes. Rows must be a multiple of 64, columns of 128 / group_size.
layout::Layout& sm90_mixed_scale(layout::Layout& layout, std::string_view rows, std::string_view cols, std::int64_t group_size);

}  // namespace mx::families::blocks
