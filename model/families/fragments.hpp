#pragma once
// What Marlin and Humming share: the order in which the lanes of a warp read weights and scales for mma fragments. And Marlin's sizes.

#include <cstdint>
#include <string_view>

#include "model/families/setting.hpp"
#include "model/layout/layout.hpp"

namespace mx::families::blocks {

/// How a kernel multiplies; every combination has an order of its own.
struct Fragments {
  int weight_bits;          ///< 4 or 8
  int activation_bits;      ///< 16, 8 or 4, and no fewer than weight_bits
  bool transposed = false;  ///< Humming's "transposed mini block": the two halves of K change places with the two halves of a row pair
};
/// Rows that the order moves together, and columns: 64 and 256 / activation_bits.
inline constexpr std::int64_t kFragmentRows = 64;
std::int64_t fragment_columns(const Fragments& fragments);

/// [.., rows, cols] -> the order of 32-bit words as lanes read them, tiles of K slowest. Rows must be multiples of 64, columns of fragment_columns.
/// Source: spec layouts 8.3 (the formula) and 6.1 (Marlin's four tables, which are its cases); vllm-project/vllm gptq_marlin_repack_kernel.
layout::Layout& fragment_order(layout::Layout& layout, std::string_view rows, std::string_view cols, const Fragments& fragments);

/// Blocks of 64: dst 8i + j <- src i + 8j. The axis must be a multiple of 64. Source: vllm-project/vllm, get_scale_perms, scale_perm.
layout::Layout& scale_blocks_of_64(layout::Layout& layout, std::string_view axis);
/// Blocks of 32: dst 8i + m <- src 2i + {0,1,8,9,16,17,24,25}[m]. The axis must be a multiple of 32. Source: get_scale_perms, scale_perm_single.
layout::Layout& scale_blocks_of_32(layout::Layout& layout, std::string_view axis);
/// Within every four neighbours the order 0, 2, 1, 3. Source: vllm-project/vllm, mxfp4_marlin_process_scales.
layout::Layout& swap_middle_of_four(layout::Layout& layout, std::string_view axis);

}  // namespace mx::families::blocks

namespace mx::families {

/// Rows and columns of a weight.
struct MatrixSize {
  std::int64_t n;
  std::int64_t k;
  friend bool operator==(const MatrixSize&, const MatrixSize&) = default;
};
/// The size that a weight of a dense layer is zero-padded to, at the end of N and of K, before Marlin's repack: rows to 64 with columns to 128, or
/// rows to 128 with columns to 64, whichever has fewer elements, then the smaller sum; columns stay whole groups. `group` is the number of columns
/// that share a scale, 0 or less for one scale per row. Throws Error(usage) on a size that is not positive or above 2^24. Source: vllm-project/vllm,
/// marlin_padded_nk; the engine of 2026-05 pads nothing.
MatrixSize marlin_padded_nk(const MatrixSize& size, std::int64_t group);

}  // namespace mx::families
