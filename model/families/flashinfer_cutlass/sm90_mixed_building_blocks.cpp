// CUTLASS' mixed-input GEMM on Hopper: the weight and scale orders that FlashInfer prepares for it.

#include <array>

#include "model/families/building_block.hpp"
#include "model/families/flashinfer_cutlass/family.hpp"
#include "model/families/flashinfer_cutlass/sm90_mixed_blocks.hpp"

namespace mx::families {
namespace blocks {
namespace {

/// Elements along K that share a line of folded scales.
constexpr std::int64_t kLineElements = 128;
constexpr std::int64_t kLineBits = 128;
constexpr std::int64_t kFoldedRows = 64;

/// Where the bits of a 32-bit word go for fp8 activations: the signs, each element's highest bit, move to the top of their byte's later place.
struct BitMove {
  std::int64_t from;
  std::int64_t to;
};
/// Source: interleave_fp4_fp8_weights_for_sm90_mixed_gemm.
constexpr std::array<BitMove, 8> kSignMoves{{{3, 7}, {7, 15}, {11, 23}, {15, 31}, {19, 3}, {23, 11}, {27, 19}, {31, 27}}};

/// Units of two bytes from two rows 8 apart side by side; columns must be bytes. Ends in [.., t, a, byte].
layout::Layout& sm90_mixed_pairs(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  split_off(layout, rows, {{"a", 2}, {"row", 8}});
  split_off(layout, cols, {{"L", 2}, {"h", 2}, {"t", 4}, {"byte", 2}});
  return order(layout, {rows, "h", "row", cols, "L", "t", "a", "byte"});
}

layout::Layout& sm90_mixed_fp4_fp8(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  sm90_mixed_pairs(layout, rows, cols).explode(1, "bit").merge({"a", "byte", "bit"}, "word_bit");
  std::vector<std::int64_t> source(32);
  for (std::size_t bit = 0; bit < source.size(); ++bit) source[bit] = static_cast<std::int64_t>(bit);
  for (const BitMove& move : kSignMoves) source[static_cast<std::size_t>(move.to)] = move.from;
  return layout.table("word_bit", std::move(source));
}

}  // namespace

layout::Layout& sm90_mixed_fp4(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  explode_bytes(layout, cols);
  split_off(layout, rows, {{"a", 2}, {"row", 8}});
  split_off(layout, cols, {{"L", 2}, {"h", 2}, {"c", 2}, {"t", 4}});
  order(layout, {rows, "h", "row", cols, "L", "t", "c", "a", "nibble", "bit"});
  return fp4word(layout);
}

layout::Layout& sm90_mixed_fp4_nibbles(layout::Layout& layout, std::string_view rows, std::string_view cols) {
  split_off(layout, rows, {{"upper", 2}, {"row", 8}});
  if (layout.grain_bits() == 8) {
    layout.explode(4, "nibble");
    split_off(layout, cols, {{"L", 2}, {"h", 2}, {"c", 2}, {"t", 4}});
  } else {
    split_off(layout, cols, {{"L", 2}, {"h", 2}, {"c", 2}, {"t", 4}, {"nibble", 2}});
  }
  return order(layout, {rows, "h", "row", cols, "L", "t", "c", "nibble", "upper"});
}

layout::Layout& sm90_mixed_scale_lines(layout::Layout& layout, std::string_view rows, std::string_view cols, std::int64_t group_size) {
  split_off(layout, cols, {{"scale", kLineElements / group_size}});
  return order(layout, {cols, rows, "scale"});
}

layout::Layout& sm90_mixed_scale(layout::Layout& layout, std::string_view rows, std::string_view cols, std::int64_t group_size) {
  const std::int64_t per_line = kLineElements / group_size;
  const std::int64_t slices = kLineBits / layout.grain_bits() / per_line;
  split_off(layout, rows, {{"slice", slices}, {"line", kFoldedRows / slices}});
  split_off(layout, cols, {{"scale", per_line}});
  return order(layout, {rows, cols, "line", "slice", "scale"});
}

}  // namespace blocks

namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

Broken uneven_weight(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows", request.rows, 16, "rows are interleaved in blocks of 16");
  need_multiple(broken, "K", 2 * request.cols, 64, "elements along K are interleaved in blocks of 64");
  return broken;
}

layout::Layout weight_fp4(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::sm90_mixed_fp4(layout, "rows", "cols");
}

layout::Layout weight_fp4_nibbles(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::sm90_mixed_fp4_nibbles(layout, "rows", "cols");
}

layout::Layout weight_int4(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::sm90_mixed_pairs(layout, "rows", "cols");
}

layout::Layout weight_fp4_fp8(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::sm90_mixed_fp4_fp8(layout, "rows", "cols");
}

constexpr std::array kGroupSize{BlockParam{"group_size", 32, 1, 128, "elements per scale along K; divides 128"}};

/// In the converter's order: the group, the element, how they fold, then the matrix.
Broken uneven_scale(const BlockRequest& request) {
  Broken broken;
  const std::int64_t group_size = request.param("group_size");
  if (blocks::kLineElements % group_size != 0) return {{"group_size", group_size, 0, "it must divide 128"}};
  const std::int64_t per_line = blocks::kLineElements / group_size;
  if (blocks::kLineBits % request.unit_bits != 0 || request.unit_bits % 8 != 0) {
    return {{"dtype", request.unit_bits, 0, "elements must be whole bytes that divide 16"}};
  }
  if (blocks::kLineBits / request.unit_bits % per_line != 0) {
    return {{"group_size", group_size, 0, "16 bytes of scales must cover 128 elements a whole number of times"}};
  }
  need_multiple(broken, "rows", request.rows, blocks::kFoldedRows, "scales are folded in blocks of 64 rows");
  need_multiple(broken, "groups", request.cols, per_line, "a line holds the scales of 128 elements along K");
  return broken;
}

/// Its rows are free.
Broken uneven_lines(const BlockRequest& request) {
  Broken broken;
  const std::int64_t group_size = request.param("group_size");
  if (blocks::kLineElements % group_size != 0) return {{"group_size", group_size, 0, "it must divide 128"}};
  need_multiple(broken, "groups", request.cols, blocks::kLineElements / group_size, "a line holds the scales of 128 elements along K");
  return broken;
}

layout::Layout scale_lines(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::sm90_mixed_scale_lines(layout, "rows", "cols", request.param("group_size"));
}

layout::Layout scale(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::sm90_mixed_scale(layout, "rows", "cols", request.param("group_size"));
}

constexpr std::array<Words, 1> kVersion{"flashinfer-2026-08"};
constexpr std::array<Words, 1> kBefore0618{"flashinfer-0.6.17"};
/// The engine's commit that asks for that release.
constexpr layout::Source of_0617(Words symbol) { return {"vllm-project/vllm", "requirements/cuda.txt", symbol, "7ca49fbe4bab019e55d57cdc4b7fd3d55c67c1a6"}; }
constexpr Words kFlashinfer = "flashinfer-ai/flashinfer";
constexpr Words kCommit = "fb28d7242b3506a2348265962041acc1fb56cca4";
constexpr Words kKernels = "csrc/nv_internal/tensorrt_llm/kernels/cutlass_kernels/moe_gemm/moe_gemm_mixed_utils.cu";

constexpr std::array<BuildingBlock, 6> kBuildingBlocks{{
    {"cutlass_sm90_mixed.weight.fp4",
     "weight",
     8,
     "words of 4 bytes from rows 8 apart, bits scattered for the conversion to bf16",
     "word (n,w), P=w/8 L=w%8/4 t=w%4 h=n%16/8, r=16*(n/16)+n%8, c=32*P+16*L+8*h+t: bytes src[r][c], src[r+8][c], src[r][c+4], src[r+8][c+4]",
     kVersion,
     {},
     uneven_weight,
     weight_fp4,
     {kFlashinfer, kKernels, "interleave_fp4_weights_for_sm90_mixed_gemm", kCommit}},
    {"cutlass_sm90_mixed.weight.fp4_nibbles",
     "weight",
     8,
     "bytes of two elements from rows 8 apart, before FlashInfer 0.6.18",
     "byte column 32*p+l of rows r and r+8 (r%16<8) to row r+8*(l/8%2), columns c=32*p+16*(l/16)+4*(l%4)+2*(l%8/4) (low nibbles) and c+1 (high), the "
     "element of row r low",
     kBefore0618,
     {},
     uneven_weight,
     weight_fp4_nibbles,
     of_0617("flashinfer 0.6.17: interleave_fp4_weights_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.scale_lines", "scale", 0, "the scales of 128 elements of every row side by side, before FlashInfer 0.6.18",
     "q=128/group_size: [kb][q*r+x] <- src[r][kb*q+x]", kBefore0618, kGroupSize, uneven_lines, scale_lines,
     of_0617("flashinfer 0.6.17: interleave_moe_scales_for_sm90_mixed_gemm")},
    {"cutlass_sm90_mixed.weight.int4",
     "weight",
     8,
     "units of two bytes from rows 8 apart side by side",
     "unit (n,u), P=u/16 L=u%16/8 t=u%8/2 a=u%2 h=n%16/8: src[16*(n/16)+n%8+8*a][16*P+8*L+4*h+t]",
     kVersion,
     {},
     uneven_weight,
     weight_int4,
     {kFlashinfer, kKernels, "interleave_int4_weights_for_sm90_mixed_gemm", kCommit}},
    {"cutlass_sm90_mixed.weight.fp4_fp8",
     "weight",
     8,
     "as cutlass_sm90_mixed.weight.int4, then the sign bits of every 32-bit word move",
     "bits 3->7 7->15 11->23 15->31 19->3 23->11 27->19 31->27 of each word, others stay",
     kVersion,
     {},
     uneven_weight,
     weight_fp4_fp8,
     {kFlashinfer, kKernels, "interleave_fp4_fp8_weights_for_sm90_mixed_gemm", kCommit}},
    {"cutlass_sm90_mixed.scale",
     "scale",
     0,
     "64 rows and the scales of 128 elements folded into lines of 16 bytes",
     "q=128/group_size, S=16/bytes/q, F=64/S: [rb][kb][f][x] <- src[64*rb + (x/q)*F + f][kb*q + x%q]",
     kVersion,
     kGroupSize,
     uneven_scale,
     scale,
     {kFlashinfer, "flashinfer/fused_moe/prepare.py", "interleave_moe_scales_for_sm90_mixed_gemm", kCommit}},
}};

}  // namespace

constinit const std::span<const BuildingBlock> kFlashinferCutlassBlocks{kBuildingBlocks};

}  // namespace mx::families
