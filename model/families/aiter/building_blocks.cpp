// Building blocks of AITER's weight preparation on ROCm.

#include <array>

#include "model/families/aiter/blocks.hpp"
#include "model/families/aiter/family.hpp"
#include "model/families/building_block.hpp"
#include "model/families/row_blocks.hpp"

namespace mx::families {
namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

bool interleaves(const BlockRequest& request) { return request.param("is_guinterleave") == 1 && request.param("gate_up") == 1; }

Broken broken_weight(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows", request.rows, 16, "a tile has 16 rows");
  need_multiple(broken, "columns", request.cols, blocks::aiter_weight_columns(request.unit_bits), "a tile has 32 columns");
  return broken;
}

layout::Layout weight(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::aiter_weight(layout, "rows", "cols");
}

Broken broken_gfx1250_weight(const BlockRequest& request) {
  Broken broken;
  if (request.batch != 1) broken.push_back({"rank", 3, 0, "a stack of matrices is taken transposed, as [batch, columns, rows]"});
  const Broken of_tiles = broken_weight(request);
  broken.insert(broken.end(), of_tiles.begin(), of_tiles.end());
  return broken;
}

Broken broken_moe_weight(const BlockRequest& request) {
  Broken broken;
  if (interleaves(request)) need_multiple(broken, "rows", request.rows, 2, "gate and up are their halves");
  const Broken of_tiles = broken_weight(request);
  broken.insert(broken.end(), of_tiles.begin(), of_tiles.end());
  return broken;
}

layout::Layout moe_weight(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  if (interleaves(request)) blocks::alternate_halves(layout, "rows", 1);
  return blocks::aiter_weight(layout, "rows", "cols");
}

Broken broken_a16w4(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows", request.rows, request.param("gate_up") == 1 ? 32 : 16, "a tile has 16 rows of each half");
  need_multiple(broken, "row_bytes", request.cols, 64, "a tile has 64 bytes of a row");
  return broken;
}

layout::Layout a16w4(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::aiter_weight_a16w4(layout, "rows", "cols", request.param("gate_up") == 1);
}

Broken broken_scale_a16w4(const BlockRequest& request) {
  Broken broken;
  if (request.param("experts_given") == 0) broken.push_back({"experts_given", 0, 0, "rows are grouped by expert"});
  need_multiple(broken, "rows", request.rows, 32, "a tile has two times 16 rows");
  return broken;
}

layout::Layout scale_a16w4(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::aiter_scale_a16w4(layout, "rows", "cols", request.param("gate_up") == 1);
}

layout::Layout e8m0(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::aiter_e8m0(layout, "batch", "rows", "cols");
}

Broken broken_n32k4(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows", request.rows, 32, "a block has 32 rows");
  need_multiple(broken, "groups", request.cols, 4, "a block has 4 scales of a row");
  return broken;
}

layout::Layout n32k4(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  if (interleaves(request)) blocks::alternate_halves(layout, "rows", 1);
  return blocks::tiles(layout, "rows", "cols", 32, 4);
}

/// Tiles of gfx1250's dense kernels.
template <std::int64_t height, std::int64_t width>
Broken broken_tiles(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows", request.rows, height, "rows are cut into tiles");
  need_multiple(broken, "columns", request.cols, width, "columns are cut into tiles");
  return broken;
}

template <std::int64_t height, std::int64_t width>
layout::Layout in_tiles(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::tiles(layout, "rows", "cols", height, width);
}

Broken broken_scale_tiles(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "columns", request.cols, 4, "columns are cut into tiles");
  return broken;
}

layout::Layout scale_tiles(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  blocks::pad_to_multiple(layout, "rows", 32, layout::PadContent::neutral);
  return blocks::tiles(layout, "rows", "cols", 32, 4);
}

constexpr BlockParam kLane{"n_lane", 16, 16, 16, "rows of a tile"};
constexpr BlockParam kGateUp{"gate_up", 0, 0, 1, "1: the rows are a stack of gate and up"};
constexpr BlockParam kInterleave{"is_guinterleave", 0, 0, 1, "1 with gate_up: rows of gate and up alternate"};
constexpr BlockParam kExpertsGiven{"experts_given", 1, 0, 1, "0: the caller does not say how many experts are stacked"};
constexpr std::array<BlockParam, 2> kA16w4Params{kGateUp, kLane};
constexpr std::array<BlockParam, 2> kScaleParams{kGateUp, kExpertsGiven};
constexpr std::array<BlockParam, 2> kInterleaveParams{kInterleave, kGateUp};

constexpr std::array<Words, 1> kVersions{"aiter-2026-08"};

constexpr layout::Source source(Words symbol) { return {"ROCm/aiter", "aiter/ops/shuffle.py", symbol, "e4048607a535ace3a2b51ded31b1c8c2d45c0879"}; }

constexpr std::array<BuildingBlock, 11> kBuildingBlocks{{
    {"aiter.shuffle_weight",
     "weight",
     0,
     "tiles of 16 rows by 32 columns, within them 16-byte chunks of all rows (packed fp4 counts as bytes)",
     "[nb][kb][j][r][x] <- src[16*nb + r][32*kb + c*j + x], c elements in 16 bytes",
     kVersions,
     {},
     broken_weight,
     weight,
     source("shuffle_weight")},
    {"aiter.shuffle_weight_a16w4", "weight", 8, "tiles of 16 rows by 64 bytes; with gate_up tiles of gate and of up alternate",
     "[n0][g][k0][kl][nl][kp] <- src[g*(N/2) + 16*n0 + nl][64*k0 + 16*kl + kp], without g when not gate_up", kVersions, kA16w4Params, broken_a16w4,
     a16w4, source("shuffle_weight_a16w4")},
    {"aiter.shuffle_scale_a16w4", "scale", 8, "tiles of two times 16 rows by 8 scales; columns padded to 8 with 0x7F",
     "[n1][k1][kl][nl][kp][p] <- src[gate_up ? p*(N/2) + 16*n1 + nl : 32*n1 + 16*p + nl][8*k1 + 4*kp + kl]", kVersions, kScaleParams,
     broken_scale_a16w4, scale_a16w4, source("shuffle_scale_a16w4")},
    {"aiter.e8m0_shuffle",
     "scale",
     8,
     "the matrices of all experts stacked, padded to 256 rows and 8 columns that are never written, in tiles of 32 by 8",
     "[mb][gb][q][r][j][i] <- src[32*mb + 16*i + r][8*gb + 4*j + q]",
     kVersions,
     {},
     nullptr,
     e8m0,
     source("shuffle_scale")},
    {"aiter.shuffle_weight_gfx1250",
     "weight",
     0,
     "the bytes of aiter.shuffle_weight as [N/16, 16*C]; of one matrix",
     "[nb][kb][j][r][x] <- src[16*nb + r][32*kb + c*j + x]",
     kVersions,
     {},
     broken_gfx1250_weight,
     weight,
     source("shuffle_weight_gfx1250")},
    {"aiter.moe_shuffle_weight.gfx1250", "weight", 0, "with is_guinterleave and gate_up rows of gate and up alternate; then aiter.shuffle_weight",
     "row n <- (n%2)*(N/2) + n/2, then [nb][kb][j][r][x] <- [16*nb + r][32*kb + c*j + x]", kVersions, kInterleaveParams, broken_moe_weight,
     moe_weight, source("moe_shuffle_weight")},
    {"aiter.shuffle_scale_n32k4", "scale", 8, "blocks of 32 rows by 4 scales; with is_guinterleave and gate_up rows of gate and up alternate first",
     "[nb][kb][r][x] <- src[32*nb + r][4*kb + x]", kVersions, kInterleaveParams, broken_n32k4, n32k4, source("shuffle_scale_n32k4")},
    {"aiter.tiles.mxfp8_activation",
     "weight",
     8,
     "activations of gfx1250 in tiles of 2 rows by 128 elements",
     "[M/2][C/128][2][128] <- src[2*i + r][128*j + x]",
     kVersions,
     {},
     broken_tiles<2, 128>,
     in_tiles<2, 128>,
     source("gfx1250 tile shuffles")},
    {"aiter.tiles.weight",
     "weight",
     8,
     "weights of gfx1250 in tiles of 16 rows by 16 bytes",
     "[M/16][C/16][16][16] <- src[16*i + r][16*j + x]",
     kVersions,
     {},
     broken_tiles<16, 16>,
     in_tiles<16, 16>,
     source("gfx1250 tile shuffles")},
    {"aiter.tiles.mx_scale",
     "scale",
     8,
     "MX scales of gfx1250 in tiles of 32 rows by 4; rows padded to 32 with 0x7F",
     "[M/32][C/4][32][4] <- src[32*i + r][4*j + x]",
     kVersions,
     {},
     broken_scale_tiles,
     scale_tiles,
     source("gfx1250 tile shuffles")},
    {"aiter.tiles.nvfp4_scale",
     "scale",
     8,
     "NVFP4 scales of gfx1250 in tiles of 32 rows by 8",
     "[M/32][C/8][32][8] <- src[32*i + r][8*j + x]",
     kVersions,
     {},
     broken_tiles<32, 8>,
     in_tiles<32, 8>,
     source("gfx1250 tile shuffles")},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kAiterBlocks{kBuildingBlocks};

}  // namespace mx::families
