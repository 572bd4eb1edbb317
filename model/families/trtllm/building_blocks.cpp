// Building blocks of FlashInfer's weight preparation, and the 128x4 scale tile that all of NVIDIA's block-scaled kernels share.

#include <array>

#include "model/families/building_block.hpp"
#include "model/families/trtllm/family.hpp"

namespace mx::families {
namespace {

using Broken = std::vector<BlockNeed>;
using Words = std::string_view;

layout::Layout matrix(const BlockRequest& request) {
  return layout::Layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
}

layout::Layout sf128x4(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::sf128x4(layout, "rows", "cols");
}

layout::Layout sf8x4(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return blocks::sf8x4(layout, "rows", "cols");
}

Broken odd_rows(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows", request.rows, 2, "gate and up are its halves");
  return broken;
}

layout::Layout gated(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  layout.split("rows", request.rows / 2, "half", "i");
  layout.permute({"batch", "i", "half", "cols"}).merge({"i", "half"}, "rows");
  return layout;
}

constexpr std::array kEpilogueTile{BlockParam{"epilogue_tile_m", 128, 1, 1 << 20, "multiples of 128 shuffle blocks of 32 rows, others blocks of 16"}};

bool is_wide(const BlockRequest& request) { return request.param("epilogue_tile_m") % 128 == 0; }

Broken uneven_blocks(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows", request.rows, is_wide(request) ? 32 : 16, "rows are shuffled in blocks");
  return broken;
}

layout::Layout shuffle_a(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  return is_wide(request) ? blocks::shuffle_a128(layout, "rows") : blocks::shuffle_a64(layout, "rows");
}

Broken uneven_tiles(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "rows", request.rows, 128, "scales lie in tiles of 128 rows");
  return broken;
}

layout::Layout shuffle_sf_a(const BlockRequest& request) {
  layout::Layout layout = shuffle_a(request);
  return blocks::sf128x4(layout, "rows", "cols");
}

constexpr std::array kBlockK{BlockParam{"block_k", 128, 1, 1 << 20, "columns of a block"}};

Broken uneven_columns(const BlockRequest& request) {
  Broken broken;
  need_multiple(broken, "K", request.cols, request.param("block_k"), "K is cut into blocks");
  return broken;
}

layout::Layout block_major_k(const BlockRequest& request) {
  layout::Layout layout = matrix(request);
  layout.split("cols", request.param("block_k"), "block", "col");
  return layout.permute({"batch", "block", "rows", "col"});
}

constexpr Words kFlashinfer = "fb28d7242b3506a2348265962041acc1fb56cca4";
constexpr std::array<Words, 1> kFlashinferVersion{"flashinfer-2026-08"};
constexpr std::array<Words, 2> kTileVersions{"flashinfer-2026-08", "vllm-2026-08"};
constexpr std::array<Words, 1> kCutlassVersion{"cutlass-2026-08"};

constexpr auto kBuildingBlocks = std::to_array<BuildingBlock>({
    {"sf_128x4",
     "scale",
     0,
     "128x4 tile of block scales (cuBLASLt, CUTLASS Sm1xx); rows to 128 and columns to 4 with zero",
     "off(b,n,g) = b*Np*Gp + ((n/128)*(Gp/4) + g/4)*512 + (n%32)*16 + ((n%128)/32)*4 + g%4",
     kTileVersions,
     {},
     nullptr,
     sf128x4,
     {"flashinfer-ai/flashinfer", "csrc/nv_internal/cpp/kernels/quantization.cu", "block_scale_interleave_kernel", kFlashinfer}},
    {"sf_128x4.cutlass_atom",
     "scale",
     0,
     "the same tile as CuTe states it, which leaves the padding open; here it is zero, as the converters write it",
     "((32,4),(V,4)) : ((16,4),(0,1)), tiles along K first, then rows, then batch",
     kCutlassVersion,
     {},
     nullptr,
     sf128x4,
     {"NVIDIA/cutlass", "include/cutlass/detail/sm100_blockscaled_layout.hpp", "Sm1xxBlockScaledConfig::tile_atom_to_shape_SFB",
      "7107b05535f8977f5ecb9d01ee203205b1fd9bc4"}},
    {"sf_8x4",
     "scale",
     0,
     "8x4 tile of activation block scales (TRT-LLM gen, few tokens); rows to 8 and columns to 4 with zero, which the quantizer does not always "
     "write (flashinfer#2861)",
     "off(b,n,g) = b*Np*Gp + ((n/8)*(Gp/4) + g/4)*32 + (n%8)*4 + g%4",
     kFlashinferVersion,
     {},
     nullptr,
     sf8x4,
     {"flashinfer-ai/flashinfer", "csrc/nv_internal/tensorrt_llm/kernels/quantization_utils.cuh", "get_sf_out_offset_8x4", kFlashinfer}},
    {"trtllm.reorder_rows_for_gated_act_gemm",
     "rows",
     0,
     "top and bottom halves of the rows alternate",
     "dst row r <- src r/2 + (r%2)*(N/2)",
     kFlashinferVersion,
     {},
     odd_rows,
     gated,
     {"flashinfer-ai/flashinfer", "flashinfer/fused_moe/core.py", "reorder_rows_for_gated_act_gemm", kFlashinfer}},
    {"trtllm.shuffle_matrix_a",
     "rows",
     0,
     "rows shuffled in blocks of 32 (epilogue tile 128) or 16 (other tiles)",
     "dst row r <- src 32*(r/32) + 4*(r%8) + (r%32)/8, or 16*(r/16) + 2*(r%8) + (r%16)/8",
     kFlashinferVersion,
     kEpilogueTile,
     uneven_blocks,
     shuffle_a,
     {"flashinfer-ai/flashinfer", "flashinfer/quantization/fp4_quantization.py", "shuffle_matrix_a", kFlashinfer}},
    {"trtllm.shuffle_matrix_sf_a",
     "scale",
     0,
     "rows as trtllm.shuffle_matrix_a, then sf_128x4; needs 128 rows",
     "sf_128x4 after trtllm.shuffle_matrix_a",
     kFlashinferVersion,
     kEpilogueTile,
     uneven_tiles,
     shuffle_sf_a,
     {"flashinfer-ai/flashinfer", "flashinfer/quantization/fp4_quantization.py", "shuffle_matrix_sf_a", kFlashinfer}},
    {"trtllm.block_major_k",
     "weight",
     0,
     "columns cut into blocks, all rows of a block together",
     "[K/bk][N][bk] <- src[n][bk*kt + x]",
     kFlashinferVersion,
     kBlockK,
     uneven_columns,
     block_major_k,
     {"flashinfer-ai/flashinfer", "flashinfer/fused_moe/core.py", "convert_to_block_layout", kFlashinfer}},
});

}  // namespace

constinit const std::span<const BuildingBlock> kTrtllmBlocks{kBuildingBlocks};

}  // namespace mx::families
