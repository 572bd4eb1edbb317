// Building blocks of ggml: its blocks of 4-bit codes, which hold their scales, from the codes and from the scales; and what its CPU backend makes of
// the memory of MXFP4 blocks. Bytes that the other tensor fills are unwritten. ggml_blocks.hpp says the same of one block.

#include <array>

#include "model/families/building_block.hpp"
#include "model/families/ggml/family.hpp"
#include "model/families/ggml_blocks.hpp"
#include "model/fault.hpp"

namespace mx::families {
namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

/// Packed codes, two elements a byte, to the nibbles of whole blocks, behind the bytes of the scales.
layout::Layout codes_of(const BlockRequest& request, const ggml::StoredBlock& block) {
  const std::int64_t bytes = block.elements / 2, half = block.group / 2, front = 2 * block.scales;
  layout::Layout layout = matrix(request);
  layout.split("cols", bytes, "block", "byte").explode(4, "nibble").merge({"byte", "nibble"}, "element");
  layout.split("element", block.group, "group", "of").split("of", half, "half", "i");
  if (fault::planted(fault::Fault::ggml_halves_are_neighbours)) {
    layout.merge({"group", "half", "i"}, "nibbles");
  } else {
    layout.permute({"batch", "rows", "block", "group", "i", "half"}).merge({"group", "i", "half"}, "nibbles");
  }
  layout.pad("nibbles", block.elements + front, layout::PadContent::unwritten);
  std::vector<std::int64_t> source(static_cast<std::size_t>(block.elements + front));
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    source[i] = at < front ? block.elements + at : at - front;
  }
  return layout.table("nibbles", std::move(source));
}

/// Scales in front of the bytes of the codes.
layout::Layout scales_of(const BlockRequest& request, const ggml::StoredBlock& block) {
  layout::Layout layout = matrix(request);
  return layout.split("cols", block.scales, "block", "byte").pad("byte", block.bytes(), layout::PadContent::unwritten);
}

Broken uneven_mxfp4(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "row_bytes", request.cols, ggml::kMxfp4.elements / 2, "a block has 32 codes");
  return broken;
}
Broken uneven_nvfp4(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "row_bytes", request.cols, ggml::kNvfp4.elements / 2, "a block has 64 codes");
  return broken;
}
Broken uneven_nvfp4_scales(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "columns", request.cols, ggml::kNvfp4.scales, "a block has 4 scales");
  return broken;
}

constexpr std::array kTogether{BlockParam{"rows_together", 8, 4, 8, "4 of NEON with dot products, 8 of AVX2"}};

Broken uneven_repack(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows_together", request.param("rows_together"), 4, "kernels take 4 or 8 rows");
  if (broken.empty()) need_multiple(broken, "rows", request.rows, request.param("rows_together"), "rows are put together");
  need_multiple(broken, "row_bytes", request.cols, ggml::kMxfp4.bytes(), "a block has 17 bytes");
  return broken;
}

/// Of each column of blocks the scales of some rows, then chunks of as many bytes of each row by turns.
layout::Layout repacked(const BlockRequest& request) {
  const std::int64_t together = request.param("rows_together"), bytes = ggml::kMxfp4.bytes();
  layout::Layout layout = matrix(request);
  layout.split("rows", together, "group", "row").split("cols", bytes, "block", "byte");
  layout.permute({"batch", "group", "block", "row", "byte"}).merge({"row", "byte"}, "bytes");
  std::vector<std::int64_t> source;
  for (std::int64_t row = 0; row < together; ++row) source.push_back(row * bytes);
  for (std::int64_t i = 0; i < together * (bytes - 1); ++i) {
    const std::int64_t chunk = i / together;
    source.push_back(chunk % together * bytes + 1 + chunk / together * together + i % together);
  }
  return layout.table("bytes", std::move(source));
}

constexpr Words kCommit = "d99724f2b141fed9e1a9f402213506c081433465";
constexpr std::array<Words, 1> kVersions{"ggml-2026-08"};

constexpr layout::Source common(Words symbol) { return {"ggml-org/ggml", "src/ggml-common.h", symbol, kCommit}; }

constexpr std::array<BuildingBlock, 5> kBuildingBlocks{{
    {"ggml.block_mxfp4.codes",
     "weight",
     8,
     "codes of MXFP4, two a byte, in ggml's blocks: element j in the low nibble, j + 16 in the high one",
     "byte 17*b + 1 + j: low nibble <- element 32*b + j, high nibble <- element 32*b + 16 + j",
     kVersions,
     {},
     uneven_mxfp4,
     [](const BlockRequest& request) { return codes_of(request, ggml::kMxfp4); },
     common("block_mxfp4")},
    {"ggml.block_mxfp4.scales",
     "scale",
     8,
     "scales of MXFP4 in ggml's blocks, before their codes",
     "byte 17*b <- scale b",
     kVersions,
     {},
     nullptr,
     [](const BlockRequest& request) { return scales_of(request, ggml::kMxfp4); },
     common("block_mxfp4")},
    {"ggml.block_nvfp4.codes",
     "weight",
     8,
     "codes of NVFP4, two a byte, in ggml's blocks of four groups of 16",
     "byte 36*b + 4 + 8*g + j: low nibble <- element 64*b + 16*g + j, high nibble <- element 64*b + 16*g + 8 + j",
     kVersions,
     {},
     uneven_nvfp4,
     [](const BlockRequest& request) { return codes_of(request, ggml::kNvfp4); },
     common("block_nvfp4")},
    {"ggml.block_nvfp4.scales",
     "scale",
     8,
     "scales of NVFP4 in ggml's blocks, four before their codes",
     "byte 36*b + g <- scale 4*b + g",
     kVersions,
     {},
     uneven_nvfp4_scales,
     [](const BlockRequest& request) { return scales_of(request, ggml::kNvfp4); },
     common("block_nvfp4")},
    {"ggml.repack_mxfp4",
     "weight",
     8,
     "blocks of MXFP4 of 17 bytes each, of neighbouring rows put together for the CPU backend's kernels",
     "of N rows, by columns of blocks: N scales, then N bytes of row i % N from its byte N * (i / N) on, i = 0 .. 15",
     kVersions,
     kTogether,
     uneven_repack,
     repacked,
     {"ggml-org/ggml", "src/ggml-cpu/repack.cpp", "make_block_mxfp4x4, make_block_mxfp4x8", kCommit}},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kGgmlBlocks{kBuildingBlocks};

}  // namespace mx::families
