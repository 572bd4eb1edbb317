// FlashInfer's blocks and the 128x4 scale tile. Source: spec layouts 1.1, 1.2 and 11; FlashInfer csrc/nv_internal/tensorrt_llm/kernels/
// quantization_utils.cuh for the 8x4 tile.

#include <array>

#include "props/families/block_formula.hpp"
#include "props/families/trtllm/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::BlockRequest;

int any_unit() { return static_cast<int>(pick_of({4, 8, 16, 32})); }

bool takes_all(const BlockRequest&) { return true; }

/// A block that moves whole rows.
template <class Row>
Memory moved_rows(const BlockRequest& r, Row row) {
  return gathered(r, r.unit_bits, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) { return Spot{row(p / r.cols), p % r.cols}; });
}

std::int64_t shuffled_128(std::int64_t r) { return 32 * (r / 32) + 4 * (r % 8) + r % 32 / 8; }
std::int64_t shuffled_64(std::int64_t r) { return 16 * (r / 16) + 2 * (r % 8) + r % 16 / 8; }

bool is_wide(const BlockRequest& r) { return r.param("epilogue_tile_m") % 128 == 0; }

void draw_tiles(BlockRequest& r) {
  r.unit_bits = any_unit();
  r.rows = pick_near(1, 128);
  r.cols = pick_near(1, 4);
}

/// As CuTe states it: ((32,4),(V,4)) : ((16,4),(0,1)), tiles along K first, then rows, then batch.
Memory cute_atom(const BlockRequest& r) {
  const std::int64_t row_tiles = (r.rows + 127) / 128;
  const std::int64_t col_tiles = (r.cols + 3) / 4;
  Memory memory{r.unit_bits, std::vector<std::int64_t>(static_cast<std::size_t>(r.batch * row_tiles * col_tiles * 512), Layout::kPadZero)};
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t n = 0; n < r.rows; ++n) {
      for (std::int64_t g = 0; g < r.cols; ++g) {
        const std::int64_t tile = 512 * (g / 4) + 512 * col_tiles * (n / 128) + 512 * col_tiles * row_tiles * b;
        memory.sources[static_cast<std::size_t>(tile + 16 * (n % 32) + 4 * (n / 32 % 4) + g % 4)] = (b * r.rows + n) * r.cols + g;
      }
    }
  }
  return memory;
}

Memory tile_8x4(const BlockRequest& r) {
  const std::int64_t cols = round_up(r.cols, 4);
  return gathered(r, r.unit_bits, round_up(r.rows, 8) * cols, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t tile = p / 32;
    return Spot{8 * (tile / (cols / 4)) + p % 32 / 4, 4 * (tile % (cols / 4)) + p % 4};
  });
}

constexpr std::array<BlockFormula, 7> kFormulas{{
    {"sf_128x4", draw_tiles, takes_all, [](const BlockRequest& r) { return tiled_scales(r, 4); }},
    {"sf_128x4.cutlass_atom", draw_tiles, takes_all, cute_atom},
    {"sf_8x4",
     [](BlockRequest& r) {
       r.unit_bits = any_unit();
       r.rows = pick_near(1, 8);
       r.cols = pick_near(1, 4);
     },
     takes_all, tile_8x4},
    {"trtllm.reorder_rows_for_gated_act_gemm",
     [](BlockRequest& r) {
       r.unit_bits = any_unit();
       r.rows = pick_near(2, 32);
       r.cols = pick(1, 9);
     },
     [](const BlockRequest& r) { return r.rows % 2 == 0; },
     [](const BlockRequest& r) { return moved_rows(r, [&](std::int64_t row) { return row / 2 + row % 2 * (r.rows / 2); }); }},
    {"trtllm.shuffle_matrix_a",
     [](BlockRequest& r) {
       r.unit_bits = any_unit();
       r.params["epilogue_tile_m"] = pick_of({128, 64, 1, 127, 256});
       r.rows = pick_near(is_wide(r) ? 32 : 16, 128);
       r.cols = pick(1, 9);
     },
     [](const BlockRequest& r) { return r.rows % (is_wide(r) ? 32 : 16) == 0; },
     [](const BlockRequest& r) { return moved_rows(r, is_wide(r) ? shuffled_128 : shuffled_64); }},
    {"trtllm.shuffle_matrix_sf_a",
     [](BlockRequest& r) {
       r.unit_bits = any_unit();
       r.params["epilogue_tile_m"] = pick_of({128, 64, 1, 127, 256});
       r.rows = pick_near(128, 128);
       r.cols = pick_near(1, 4);
     },
     [](const BlockRequest& r) { return r.rows % 128 == 0; },
     [](const BlockRequest& r) {
       Memory tiles = tiled_scales(r, 4);
       for (std::int64_t& source : tiles.sources) {
         if (source < 0) continue;
         const std::int64_t row = source / r.cols % r.rows;
         source += ((is_wide(r) ? shuffled_128 : shuffled_64)(row)-row) * r.cols;
       }
       return tiles;
     }},
    {"trtllm.block_major_k",
     [](BlockRequest& r) {
       r.unit_bits = any_unit();
       r.params["block_k"] = pick_of({128, 64, 1, 96});
       r.rows = pick_near(1, 16);
       r.cols = pick_near(r.param("block_k"), 128);
     },
     [](const BlockRequest& r) { return r.cols % r.param("block_k") == 0; },
     [](const BlockRequest& r) {
       const std::int64_t block = r.param("block_k");
       return gathered(r, r.unit_bits, r.rows * r.cols, Layout::kPadZero, [&](std::int64_t p) {
         return Spot{p / block % r.rows, p / (block * r.rows) * block + p % block};
       });
     }},
}};

}  // namespace

Memory tiled_scales(const BlockRequest& r, std::int64_t group_multiple) {
  const std::int64_t cols = round_up(r.cols, group_multiple);
  return gathered(r, r.unit_bits, round_up(r.rows, 128) * cols, Layout::kPadZero, [&](std::int64_t p) {
    const std::int64_t t = p / 512;
    return Spot{128 * (t / (cols / 4)) + 32 * (p % 16 / 4) + p % 512 / 16, 4 * (t % (cols / 4)) + p % 4};
  });
}

constinit const std::span<const BlockFormula> kTrtllmBlocks{kFormulas};

}  // namespace mx::props
