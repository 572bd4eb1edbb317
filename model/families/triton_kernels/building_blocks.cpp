// triton_kernels: the storage that its tensor layouts give MXFP4 weights (bytes of two elements) and scales. Whether the operand is handed over
// transposed (mx_axis K) or as it is (mx_axis last), the storage is the same.

#include <array>
#include <numeric>

#include "model/families/building_block.hpp"
#include "model/families/triton_kernels/blocks.hpp"
#include "model/families/triton_kernels/family.hpp"

namespace mx::families {
namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

TritonKernels version_of(const BlockRequest& request) { return triton_kernels_named(request.version); }

/// Later releases bring weights into a form that packs pairs of rows first.
Broken odd_rows(const BlockRequest& request) {
  Broken broken;
  if (blocks::packs_row_pairs(version_of(request))) need_multiple(broken, "rows", request.rows, 2, "pairs of rows are packed into bytes");
  return broken;
}

/// Row-major as loaded; in the packed form, byte k*N/2 + n/2 of a matrix holds element k of the rows n, n+1.
layout::Layout strided(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  if (!blocks::packs_row_pairs(version_of(request))) return layout;
  layout.explode(4, "nibble");
  return layout.permute({"batch", "cols", "nibble", "rows"});
}

constexpr std::array kMmaVersion{BlockParam{"mma_version", 3, 2, 3, "2 for sm80's mma, 3 for Hopper's wgmma"}};

layout::Layout hopper_value(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::hopper_mx_value(layout, "rows", "cols", version_of(request), request.param("mma_version"));
}

constexpr std::array kNumWarps{BlockParam{"num_warps", 8, 1, 1 << 16, "warps of the kernel that reads the scales, a power of two"}};

Broken uneven_warps(const BlockRequest& request) {
  const std::int64_t warps = request.param("num_warps");
  if ((warps & (warps - 1)) == 0) return {};
  return {{"num_warps", warps, 0, "the number of warps must be a power of two"}};
}

layout::Layout hopper_scale(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::hopper_mx_scale(layout, "rows", "cols", request.param("num_warps"));
}

layout::Layout blackwell_scale(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::blackwell_mx_scale(layout, "rows", "cols");
}

layout::Layout blackwell_value(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::blackwell_mx_value(layout, "rows", "cols", version_of(request));
}

constexpr std::array<BlockParam, 2> kTile{{
    {"block_k", 128, 2, 1 << 20, "elements of a tile along K, even"},
    {"block_n", 256, 1, 1 << 20, "rows of a tile"},
}};
/// Rows of bytes must be whole lines of the tensor memory accelerator.
constexpr std::int64_t kTmaBytes = 128;

Broken uneven_tile(const BlockRequest& request) {
  Broken broken = odd_rows(request);
  need_multiple(broken, "block_k", request.param("block_k"), 2, "a tile holds whole bytes");
  return broken;
}

layout::Layout blackwell_value_shuffled(const BlockRequest& request) {
  const std::int64_t tile_bytes = request.param("block_k") / 2;
  const std::int64_t tile_rows = request.param("block_n");
  layout::Layout layout = matrix(request);
  blocks::pad_to_multiple(layout, "rows", tile_rows, layout::PadContent::zero);
  blocks::pad_to_multiple(layout, "cols", std::lcm(kTmaBytes, tile_bytes), layout::PadContent::zero);
  layout.split("rows", tile_rows, "row_tile", "row").split("cols", tile_bytes, "col_tile", "col");
  return layout.permute({"batch", "col_tile", "row_tile", "row", "col"});
}

Broken unpadded_cdna4(const BlockRequest& request) {
  Broken broken;
  if (blocks::pads_cdna4_scales(version_of(request))) return broken;
  need_multiple(broken, "rows", request.rows, 32, "this release views the scales in tiles of 32 rows without padding them");
  need_multiple(broken, "groups", request.cols, 8, "this release views the scales in tiles of 8 groups without padding them");
  return broken;
}

layout::Layout cdna4_scale(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::cdna4_mx_scale(layout, "rows", "cols");
}

layout::Layout gfx1250_scale(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::gfx1250_mx_scale(layout, "rows", "cols");
}

constexpr std::array<Words, 3> kVersions{"triton_kernels-3.5", "triton_kernels-3.7", "triton_kernels-2026-08"};
/// The layouts that came with release 3.6.
constexpr std::array<Words, 2> kSince37{"triton_kernels-3.7", "triton_kernels-2026-08"};

constexpr Words kTriton = "triton-lang/triton";
constexpr Words kAt3_7 = "9d9a2d7ac0b8b22d1888cb95056c94a64a4beed4";

constexpr std::array<BuildingBlock, 8> kBuildingBlocks{{
    {"triton.StridedLayout",
     "weight",
     8,
     "row-major as loaded; from 3.6 on the form that other layouts start from, which packs pairs of rows instead of pairs along K",
     "3.5: dst[n][b] <- src[n][b]; later, in elements: dst[k][n] <- src[n][k]",
     kVersions,
     {},
     odd_rows,
     strided,
     {kTriton, "python/triton_kernels/triton_kernels/tensor_details/layout_details/strided.py", "StridedLayoutTransformation.unswizzle_data",
      kAt3_7}},
    {"triton.HopperMXValueLayout",
     "weight",
     8,
     "words of 4 bytes from rows 8 apart, bits scattered for the conversion to bf16; rows and bytes padded with zero, more in later releases",
     "word (R,q), r0=R/4 t0=R%4, r1=q/32 s0=q/16%2 t1=q/4%4 y=q%4: bytes src[16*r0+8*w0+2*t0+s0][32*r1+8*y+4*w1+t1], w1=j/2 w0=j%2 (mma 3) or "
     "[32*r1+16*w1+4*t1+j], w1=y/2 w0=y%2 (mma 2)",
     kVersions,
     kMmaVersion,
     odd_rows,
     hopper_value,
     {kTriton, "python/triton_kernels/triton_kernels/tensor_details/layout_details/hopper_value.py", "HopperMXValueLayout.swizzle_data", kAt3_7}},
    {"triton.HopperMXScaleLayout",
     "scale",
     8,
     "rows spread over the lanes of num_warps warps; rows to 32*num_warps and columns to 2 with zero",
     "line Q*W+w, byte c: src[32*W*Q + 16*W*(c/32%2) + 16*w + 8*(c%2) + c/4%8][2*(c/64) + c/2%2]",
     kVersions,
     kNumWarps,
     uneven_warps,
     hopper_scale,
     {kTriton, "python/triton_kernels/triton_kernels/tensor_details/layout_details/hopper_scale.py", "HopperMXScaleLayout.swizzle_data",
      "abce3c88f05e8dba40bfacf68acf0ee3869afb5e"}},
    {"triton.BlackwellMXScaleLayout",
     "scale",
     8,
     "sf_128x4 of columns padded to 8 with zero",
     "sf_128x4 with Gp a multiple of 8",
     kVersions,
     {},
     nullptr,
     blackwell_scale,
     {kTriton, "python/triton_kernels/triton_kernels/tensor_details/layout_details/blackwell_scale.py", "BlackwellMXScaleLayout.swizzle_data",
      kAt3_7}},
    {"triton.BlackwellMXValueLayout",
     "weight",
     8,
     "row-major, rows padded to 128 bytes: with zero in 3.5, with whatever was there in later releases",
     "dst[n][b] <- src[n][b]",
     kVersions,
     {},
     odd_rows,
     blackwell_value,
     {kTriton, "python/triton_kernels/triton_kernels/tensor_details/layout_details/blackwell_value.py", "BlackwellMXValueLayout.swizzle_data",
      kAt3_7}},
    {"triton.BlackwellMX4ValueShuffledLayout",
     "weight",
     8,
     "whole tiles of block_n rows and block_k elements, tiles along K outermost; rows to block_n and bytes to 128 and block_k/2 with zero",
     "[kt][nt][i][j] <- src[nt*block_n + i][kt*block_k/2 + j]",
     kSince37,
     kTile,
     uneven_tile,
     blackwell_value_shuffled,
     {kTriton, "python/triton_kernels/triton_kernels/tensor_details/layout_details/blackwell_value_shuffled.py",
      "BlackwellMX4ValueShuffledTransformation.swizzle_data", kAt3_7}},
    {"triton.CDNA4MXScaleLayout",
     "scale",
     8,
     "tiles of 32 rows and 8 columns in the order of gfx950's lanes; uneven ones are refused by 3.5 and padded with zero from 3.6 on",
     "tile row nb, byte c: src[32*nb + 16*(c%2) + c/4%16][8*(c/256) + 4*(c/2%2) + c/64%4]",
     kVersions,
     {},
     unpadded_cdna4,
     cdna4_scale,
     {kTriton, "python/triton_kernels/triton_kernels/tensor_details/layout_details/cdna4_scale.py", "CDNA4MXScaleLayout.swizzle_data", kAt3_7}},
    {"triton.GFX1250MXScaleLayout",
     "scale",
     8,
     "tiles of 128 rows and 4 columns (fewer when there are no more), every fourth of the rows side by side; padded with zero",
     "a = min(G,4); tile row nb, byte c: src[128*nb + 32*(c/a%4) + c/(4*a)%32][a*(c/(128*a)) + c%a]",
     kSince37,
     {},
     nullptr,
     gfx1250_scale,
     {kTriton, "python/triton_kernels/triton_kernels/tensor_details/layout_details/gfx1250_scale.py", "GFX1250MXScaleLayout.swizzle_data", kAt3_7}},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kTritonKernelsBlocks{kBuildingBlocks};

}  // namespace mx::families
