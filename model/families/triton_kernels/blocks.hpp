#pragma once
// The layouts that triton_kernels gives MXFP4 weights and scales, as blocks: each works on the last axes [rows, cols] of a view, where the columns of
// a weight are bytes or 4-bit elements. What they list is the storage in ascending address order; triton_kernels returns it as a strided view.
// Source: triton-lang/triton, python/triton_kernels/triton_kernels/tensor_details/layout_details.

#include <cstdint>
#include <string_view>

#include "model/families/setting.hpp"
#include "model/layout/layout.hpp"

namespace mx::families::blocks {

/// Hopper's value layout: words of 4 bytes gathered from two rows 8 apart, bits scattered by fp4word. Rows and bytes are zero-padded as the version
/// does. `mma_version` is 2 or 3.
layout::Layout& hopper_mx_value(layout::Layout& layout, std::string_view rows, std::string_view cols, TritonKernels version,
                                std::int64_t mma_version);
/// Hopper's scale layout for `num_warps` warps, a power of two; rows zero-padded to 32 * num_warps, columns to 2.
layout::Layout& hopper_mx_scale(layout::Layout& layout, std::string_view rows, std::string_view cols, std::int64_t num_warps);
/// Blackwell's value layout: row-major, rows padded to 128 bytes with what the version leaves there.
layout::Layout& blackwell_mx_value(layout::Layout& layout, std::string_view rows, std::string_view cols, TritonKernels version);
/// Blackwell's scale layout: columns zero-padded to 8, then sf128x4.
layout::Layout& blackwell_mx_scale(layout::Layout& layout, std::string_view rows, std::string_view cols);
/// The scale layout of gfx950; rows zero-padded to 32, columns to 8.
layout::Layout& cdna4_mx_scale(layout::Layout& layout, std::string_view rows, std::string_view cols);
/// The scale layout of gfx1250; rows zero-padded to 128, columns to 4 when there are more.
layout::Layout& gfx1250_mx_scale(layout::Layout& layout, std::string_view rows, std::string_view cols);

/// What a version pads a Hopper weight to: multiples of rows and of the bytes of a row.
struct HopperPadding {
  TritonKernels version;
  std::int64_t rows;
  std::int64_t row_bytes;
};
const HopperPadding& hopper_padding(TritonKernels version);
/// Whether gfx950's scales are padded; before, uneven ones are refused.
bool pads_cdna4_scales(TritonKernels version);
/// Whether weights pass through a form that packs pairs of rows, so that their number must be even.
bool packs_row_pairs(TritonKernels version);

}  // namespace mx::families::blocks
