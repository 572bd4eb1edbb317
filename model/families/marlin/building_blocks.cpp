// Building blocks of Marlin's weight preparation.

#include <array>

#include "model/families/building_block.hpp"
#include "model/families/fragments.hpp"
#include "model/families/marlin/family.hpp"

namespace mx::families {
namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

blocks::Fragments fragments_of(const BlockRequest& request) {
  return {.weight_bits = static_cast<int>(request.param("num_bits")), .activation_bits = request.param("is_a_8bit") != 0 ? 8 : 16};
}

// The host's checks know one tile, whatever the kernel's.
constexpr std::int64_t kTileK = 16;
constexpr std::int64_t kTileN = 64;

Broken uneven_tiles(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "K", request.cols, kTileK, "gptq_marlin_repack checks size_k against its tile of 16");
  need_multiple(broken, "rows", request.rows, kTileN, "gptq_marlin_repack checks size_n against its tile of 64");
  return broken;
}

/// Kernels for 8-bit activations have tiles of 32 along K: half a tile at the end passes the checks, is not read, and leaves as much of the output
/// unwritten.
layout::Layout repack(const BlockRequest& request) {
  const blocks::Fragments fragments = fragments_of(request);
  const std::int64_t tile = blocks::fragment_columns(fragments);
  const std::int64_t whole = request.cols / tile * tile;
  layout::Layout layout = matrix(request);
  if (whole == request.cols) return blocks::fragment_order(layout, "rows", "cols", fragments);
  if (whole == 0) return layout.pad("cols", 2 * request.cols, layout::PadContent::unwritten).slice("cols", request.cols, request.cols);
  blocks::fragment_order(layout.slice("cols", 0, whole), "rows", "cols", fragments);
  std::vector<std::string> names;
  for (std::size_t i = 1; i < layout.view().size(); ++i) names.push_back(layout.view()[i].name);
  const std::vector<Words> of_matrix(names.begin(), names.end());
  layout.merge(std::span<const Words>(of_matrix), "memory");
  return layout.pad("memory", request.rows * request.cols, layout::PadContent::unwritten);
}

constexpr std::array<BlockParam, 2> repack_params(std::int64_t num_bits, std::int64_t is_a_8bit) {
  return {{{"num_bits", num_bits, num_bits, num_bits, "bits of a weight"},
           {"is_a_8bit", is_a_8bit, is_a_8bit, is_a_8bit, "1: activations of 8 bits, 0: of 16"}}};
}
constexpr auto kW4A16 = repack_params(4, 0);
constexpr auto kW4A8 = repack_params(4, 1);
constexpr auto kW8A16 = repack_params(8, 0);
constexpr auto kW8A8 = repack_params(8, 1);

constexpr std::array<BlockParam, 3> kScaleParams{{
    {"group_size", 32, -1, 1 << 20, "elements that share a scale, -1: a whole row"},
    {"size_k", 0, 0, 1 << 30, "elements of a row, 0: group_size for each row of scales"},
    {"is_a_8bit", 0, 0, 1, "1: activations of 8 bits, 0: of 16"},
}};

/// Whether scales lie in blocks of 64: several groups along K, and activations of 16 bits.
bool is_grouped(const BlockRequest& request) {
  const std::int64_t group = request.param("group_size");
  const std::int64_t size_k = request.param("size_k") != 0 ? request.param("size_k") : group * request.rows;
  return group != -1 && group < size_k && request.param("is_a_8bit") == 0;
}

Broken uneven_scales(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "elements", request.rows * request.cols, is_grouped(request) ? 64 : 32, "scales of an expert are moved in blocks");
  return broken;
}

/// The matrix [batch, rows, cols] such that blocks of the given size can be cut from its last axis "cols": with rows joined when they are no
/// multiples.
layout::Layout in_blocks(const BlockRequest& request, std::int64_t block) {
  layout::Layout layout = matrix(request);
  return request.cols % block == 0 ? layout : layout.merge({"rows", "cols"}, "cols");
}

layout::Layout permute_scales(const BlockRequest& request) {
  if (is_grouped(request)) {
    layout::Layout layout = in_blocks(request, 64);
    return blocks::scale_blocks_of_64(layout, "cols");
  }
  layout::Layout layout = in_blocks(request, 32);
  return blocks::scale_blocks_of_32(layout, "cols");
}

Broken uneven_bias(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "elements", request.rows * request.cols, 32, "a bias is moved in blocks");
  return broken;
}

layout::Layout permute_bias(const BlockRequest& request) {
  layout::Layout layout = in_blocks(request, 32);
  return blocks::scale_blocks_of_32(layout, "cols");
}

constexpr std::array<Words, 1> kVersions{"vllm-2026-08"};
constexpr Words kCommit = "017e9f4448b700e85ee16023287b025693c72b9e";

constexpr BuildingBlock repack_row(Words name, int weight_bits, Words summary, Words formula, std::span<const BlockParam> params) {
  return {name,        "weight",
          weight_bits, summary,
          formula,     kVersions,
          params,      uneven_tiles,
          repack,      {"vllm-project/vllm", "csrc/libtorch_stable/quantization/marlin/gptq_marlin_repack.cu", "gptq_marlin_repack_kernel", kCommit}};
}

constexpr std::array<BuildingBlock, 6> kBuildingBlocks{{
    repack_row("marlin.repack.w4a16", 4, "4-bit weights [N, K] in tiles of 16 x 64 as the lanes of a warp read them",
               "word (kt, nt, th, wp) of 8 units: unit p <- v[i], i = 0,2,4,6,1,3,5,7 for p = 0..7, v[i] = (k = 16kt + 2(th%4) + {0,1,8,9}[i%4], "
               "n = 64nt + 16wp + th/4 + 8(i/4))",
               kW4A16),
    repack_row("marlin.repack.w4a8", 4, "4-bit weights for 8-bit activations: tiles of 32 x 32; half a tile of K at the end is dropped",
               "word (kt, nt, th, wp) of 8 units: unit p <- v[i], i = 0,4,1,5,2,6,3,7 for p = 0..7, v[i] = (k = 32kt + 4(th%4) + i%4 + 16(i/4), "
               "n = 32nt + 8wp + th/4)",
               kW4A8),
    repack_row("marlin.repack.w8a16", 8, "8-bit weights [N, K] in tiles of 16 x 64 as the lanes of a warp read them",
               "word (kt, nt, th, wp, s) of 4 units: v[0,2,1,3] for s = 0, v[4,6,5,7] for s = 1, v as in marlin.repack.w4a16", kW8A16),
    repack_row("marlin.repack.w8a8", 8, "8-bit weights for 8-bit activations: tiles of 32 x 32; half a tile of K at the end is dropped",
               "word (kt, nt, th, wp, s) of 4 units: v[0,1,2,3] for s = 0, v[4,5,6,7] for s = 1, v as in marlin.repack.w4a8", kW8A8),
    {"marlin.permute_scales",
     "scale",
     0,
     "scales [K/group, N] in blocks of 64, with one group, whole rows or 8-bit activations in blocks of 32",
     "dst[64B + 8i + j] <- src[64B + i + 8j], or dst[32B + 8i + m] <- src[32B + 2i + {0,1,8,9,16,17,24,25}[m]]",
     kVersions,
     kScaleParams,
     uneven_scales,
     permute_scales,
     {"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/marlin_utils.py", "marlin_permute_scales", kCommit}},
    {"marlin.permute_bias",
     "bias",
     0,
     "a bias in blocks of 32",
     "dst[32B + 8i + m] <- src[32B + 2i + {0,1,8,9,16,17,24,25}[m]]",
     kVersions,
     {},
     uneven_bias,
     permute_bias,
     {"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/marlin_utils.py", "marlin_permute_bias", kCommit}},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kMarlinBlocks{kBuildingBlocks};

}  // namespace mx::families
