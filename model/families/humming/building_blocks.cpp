// Building blocks of Humming's weight preparation. Its weight order is Marlin's with more cases, and padding of its own.

#include <algorithm>
#include <array>

#include "model/families/building_block.hpp"
#include "model/families/fragments.hpp"
#include "model/families/humming/blocks.hpp"
#include "model/families/humming/family.hpp"

namespace mx::families {
namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

/// A size after the kernel's padding; the parameter 0 means none.
std::int64_t padded(const BlockRequest& request, Words key, std::int64_t size) { return request.param(key) != 0 ? request.param(key) : size; }

Broken uneven_padding(const BlockRequest& request) {
  Broken broken;
  const std::int64_t rows = padded(request, "padded_n", request.rows);
  const std::int64_t cols = padded(request, "padded_k", request.cols);
  need_multiple(broken, "rows", rows, blocks::kFragmentRows, "prepare_humming_weight asserts the padded rows");
  need_multiple(broken, "K", cols, 512 / request.param("activation_bits"), "prepare_humming_weight asserts the padded K: pairs of slabs");
  if (rows < request.rows) broken.push_back({"rows", rows, 0, "padded_n is below N"});
  if (cols < request.cols) broken.push_back({"K", cols, 0, "padded_k is below K"});
  return broken;
}

layout::Layout repack(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  const std::int64_t rows = padded(request, "padded_n", request.rows);
  const std::int64_t cols = padded(request, "padded_k", request.cols);
  if (rows != request.rows) layout.pad("rows", rows, layout::PadContent::zero);
  if (cols != request.cols) layout.pad("cols", cols, layout::PadContent::zero);
  blocks::fragment_order(layout, "rows", "cols",
                         {.weight_bits = static_cast<int>(request.param("weight_bits")),
                          .activation_bits = static_cast<int>(request.param("activation_bits")),
                          .transposed = request.param("transpose_mini_block") != 0});
  if (request.param("packed_k") != 0) blocks::pack_k(layout, "rows", "cols");
  if (request.param("fused_scale") != 0) blocks::magnitudes_in_value_order(layout);
  return layout;
}

/// Bytes in columns of 16, of padded rows and columns.
layout::Layout flat(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  const std::int64_t rows = padded(request, "padded_n", request.rows);
  const std::int64_t cols = padded(request, "padded_k", request.cols);
  if (rows != request.rows) layout.pad("rows", rows, layout::PadContent::zero);
  if (cols != request.cols) layout.pad("cols", cols, layout::PadContent::zero);
  return blocks::byte_columns(layout, "rows", "cols");
}

constexpr std::array<BlockParam, 7> repack_params(std::int64_t weight_bits, std::int64_t activation_bits) {
  const std::int64_t most = weight_bits == 4 && activation_bits == 8 ? 1 : 0;
  return {{{"weight_bits", weight_bits, weight_bits, weight_bits, "bits of a weight"},
           {"activation_bits", activation_bits, activation_bits, activation_bits, "bits of an activation"},
           {"transpose_mini_block", 0, 0, 1, "1: for wgmma without fused scales"},
           {"padded_n", 0, 0, 1 << 30, "rows after the kernel's padding, 0: none"},
           {"padded_k", 0, 0, 1 << 30, "columns after the kernel's padding, 0: none"},
           {"packed_k", 0, 0, most, "1: 64 of K a row, for activations with a scale for every 128 (0.1.19)"},
           {"fused_scale", 0, 0, most, "1: signs and magnitudes move apart, for MXFP4 with e4m3 activations (since 0.1.12)"}}};
}
constexpr auto kW4A16 = repack_params(4, 16);
constexpr auto kW4A8 = repack_params(4, 8);
constexpr auto kW4A4 = repack_params(4, 4);
constexpr auto kW8A16 = repack_params(8, 16);
constexpr auto kW8A8 = repack_params(8, 8);

constexpr std::array kScaleParams{BlockParam{"to_apply_on_c", 0, 0, 1, "1: the scale multiplies the result; blocks of 32 instead of 64"}};

std::int64_t block_of(const BlockRequest& request) { return request.param("to_apply_on_c") != 0 ? 32 : 64; }

Broken uneven_scales(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "elements", request.batch * request.rows * request.cols, block_of(request), "scales are moved in blocks");
  return broken;
}

/// [batch, rows, cols] -> [batch, cols, rows] in blocks, which run on from one expert to the next where its rows do not fill them.
layout::Layout transposed_in_blocks(const BlockRequest& request, std::int64_t block) {
  layout::Layout layout = matrix(request);
  layout.permute({"batch", "cols", "rows"});
  if (request.rows % block != 0) layout.merge({"batch", "cols", "rows"}, "rows");
  return block == 64 ? blocks::scale_blocks_of_64(layout, "rows") : blocks::scale_blocks_of_32(layout, "rows");
}

layout::Layout scale(const BlockRequest& request) { return transposed_in_blocks(request, block_of(request)); }

Broken uneven_bias(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "elements", request.batch * request.rows * request.cols, 32, "a bias is moved in blocks");
  return broken;
}

/// A bias has one number per row, whichever axis of the matrix holds them.
layout::Layout bias(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  layout.merge({"rows", "cols"}, "rows");
  if (request.rows * request.cols % 32 != 0) layout.merge({"batch", "rows"}, "rows");
  return blocks::scale_blocks_of_32(layout, "rows");
}

constexpr std::array<Words, 2> kVersions{"humming-2026-05", "humming-0.1.19"};
constexpr std::array<Words, 1> kHumming0119{"humming-0.1.19"};
// A fork of inclusionAI/humming.
constexpr Words kRepository = "mgoin/humming";
constexpr Words kCommit = "a6455de3edd09d8ee0f1fb657475606fd2f02532";
constexpr Words kFormula =
    "slab kb = 256/A, lane th < 32, values [i2 < 16/A][i3 < A/4][i4 < 2][i5 < 2][i6 < st] with st = 32/A: n = 64T + 4A*i2 + 16*i3 + 8*i4 + th/4, "
    "k = kb*slab + (128/A)*i5 + (th%4)*st + i6; transposed: i5 before i4. Words of P = 32/W values, unit p <- value (p % (P/st))*st + p/(P/st); "
    "word jj*W + q of a lane at 64*kb*T*W/32 + 32*W*jj + th*W + q of the slab";

constexpr BuildingBlock repack_row(Words name, int weight_bits, Words summary, std::span<const BlockParam> params) {
  return {name,      "weight", weight_bits,    summary, kFormula,
          kVersions, params,   uneven_padding, repack,  {kRepository, "humming/include/humming/kernel/process.cuh", "weight_repack_nk", kCommit}};
}

constexpr std::array<BuildingBlock, 8> kBuildingBlocks{{
    repack_row("humming.repack.w4a16", 4, "4-bit weights for 16-bit activations: W = 4, A = 16, slabs of 16", kW4A16),
    repack_row("humming.repack.w4a8", 4, "4-bit weights for 8-bit activations: W = 4, A = 8, slabs of 32", kW4A8),
    repack_row("humming.repack.w4a4", 4, "4-bit weights for 4-bit activations: W = 4, A = 4, slabs of 64", kW4A4),
    repack_row("humming.repack.w8a16", 8, "8-bit weights for 16-bit activations: W = 8, A = 16, slabs of 16", kW8A16),
    repack_row("humming.repack.w8a8", 8, "8-bit weights for 8-bit activations: W = 8, A = 8, slabs of 32", kW8A8),
    {"humming.flat.w8a8",
     "weight",
     8,
     "FP8 weights for FP8 activations: columns of 16 bytes",
     "[K/16][N][16]: dst (c, n, b) <- src (n, 16c + b)",
     kHumming0119,
     kW8A8,
     uneven_padding,
     flat,
     {"humming-kernels (PyPI)", "humming/transform.py", "prepare_and_transform_humming_tensors", "0.1.19"}},
    {"humming.scale",
     "scale",
     0,
     "scales [N, K/group] transposed, then in blocks of 64, or of 32 when they multiply the result",
     "on the transpose: dst[64B + 8i + j] <- src[64B + i + 8j], or dst[32B + 8i + m] <- src[32B + 2i + {0,1,8,9,16,17,24,25}[m]]",
     kVersions,
     kScaleParams,
     uneven_scales,
     scale,
     {kRepository, "humming/utils/weight.py", "prepare_humming_weight_scale", kCommit}},
    {"humming.bias",
     "bias",
     0,
     "a bias in blocks of 32",
     "dst[32B + 8i + m] <- src[32B + 2i + {0,1,8,9,16,17,24,25}[m]]",
     kVersions,
     {},
     uneven_bias,
     bias,
     {kRepository, "humming/utils/weight.py", "prepare_humming_bias", kCommit}},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kHummingBlocks{kBuildingBlocks};

}  // namespace mx::families
