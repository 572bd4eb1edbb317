// Building blocks of the CPU kernels' weight preparation (AMX).

#include <array>

#include "model/families/building_block.hpp"
#include "model/families/cpu/blocks.hpp"
#include "model/families/cpu/family.hpp"

namespace mx::families {
namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

Broken broken_weight(std::int64_t rows, std::int64_t elements) {
  Broken broken;
  need_multiple(broken, "rows", rows, 16, "a tile has 16 rows");
  need_multiple(broken, "K", elements, 32, "a tile has 32 elements of a row");
  return broken;
}

Broken broken_nibbles(const BlockRequest& request) { return broken_weight(request.rows, 2 * request.cols); }

layout::Layout nibbles(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  layout.explode(4, "nibble").merge({"cols", "nibble"}, "cols");
  return blocks::cpu_nibbles(layout, "rows", "cols");
}

Broken broken_vnni2(const BlockRequest& request) {
  Broken broken;
  if (request.unit_bits != 8 && request.unit_bits != 16) broken.push_back({"dtype", request.unit_bits, 0, "elements have 8 or 16 bits"});
  const Broken of_tiles = broken_weight(request.rows, request.cols);
  broken.insert(broken.end(), of_tiles.begin(), of_tiles.end());
  return broken;
}

layout::Layout vnni2(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::cpu_vnni2(layout, "rows", "cols");
}

Broken broken_scale(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows", request.rows, 32, "a block has 32 rows");
  return broken;
}

layout::Layout scale(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::cpu_scale(layout, "rows", "cols");
}

constexpr std::array<Words, 1> kVersions{"vllm-2026-08"};

constexpr layout::Source source(Words symbol) {
  return {"vllm-project/vllm", "csrc/cpu/sgl-kernels/gemm.cpp", symbol, "017e9f4448b700e85ee16023287b025693c72b9e"};
}

constexpr std::array<BuildingBlock, 3> kBuildingBlocks{{
    {"cpu.convert_weight_packed.uint8",
     "weight",
     8,
     "packed 4-bit weights: blocks of 32 rows, a byte column at a time, rows 0..15 in the low nibbles and 16..31 in the high ones; of a last block "
     "of 16 rows half is lost and every high nibble undefined",
     "block byte (b, i): low nibble <- row n0 + i/2, high nibble <- row n0 + 16 + i/2, both nibble i%2 of byte b",
     kVersions,
     {},
     broken_nibbles,
     nibbles,
     source("convert_weight_packed, pack_vnni<uint8_t>")},
    {"cpu.convert_weight_packed.vnni2",
     "weight",
     0,
     "weights of 8 or 16 bits: blocks of 32 rows (the last may have 16), pairs of columns, all rows of a pair together",
     "[n0/32][k2][n][d] <- src[n0 + n][2*k2 + d]",
     kVersions,
     {},
     broken_vnni2,
     vnni2,
     source("convert_weight_packed, pack_vnni")},
    {"cpu.convert_scale_packed",
     "scale",
     8,
     "blocks of 32 rows, each transposed",
     "[n0/32][g][i] <- src[n0 + i][g]",
     kVersions,
     {},
     broken_scale,
     scale,
     source("convert_scale_packed")},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kCpuBlocks{kBuildingBlocks};

}  // namespace mx::families
