#include "tests/kernels/moe_kernels.hpp"

#include <vector>

namespace mx::tests {

using namespace kernels;
using namespace kernels::moe;

std::span<const GemmKernel> tested_kernels() {
  static const std::vector<GemmKernel> kKernels = [] {
    std::vector<GemmKernel> all(gemm_kernels().begin(), gemm_kernels().end());
    constexpr Tiling kAllInTiles{kTileOfRows, RowForm::pair_blocks, kStreamedBytes};
    const auto add = [&](PanelKind kind, std::uint32_t needs, TileFunction* run) {
      all.push_back({Contract::bf16_pair, kind, needs == 0 ? "bf16-pair on plain tiles" : "bf16-pair on plain tiles, decoded by vectors", needs,
                     needs == 0 ? kAllInTiles : kPairTiles, run});
    };
    add(PanelKind::mxfp4, 0, bf16_pair_plain_tiles);
    add(PanelKind::mxfp8, 0, bf16_pair_mxfp8_plain_tiles);
    add(PanelKind::nvfp4, 0, bf16_pair_nvfp4_plain_tiles);
    add(PanelKind::fp8, 0, bf16_pair_fp8_plain_tiles);
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
    constexpr std::uint32_t kVectors = kAvx2 | kAvx512 | kAvx512Vbmi | kAvx512Vbmi2 | kAvx512Bf16;
    add(PanelKind::mxfp4, kVectors, bf16_pair_plain_tiles_avx512);
    add(PanelKind::mxfp8, kVectors, bf16_pair_mxfp8_plain_tiles_avx512);
    add(PanelKind::nvfp4, kVectors, bf16_pair_nvfp4_plain_tiles_avx512);
    add(PanelKind::fp8, kVectors, bf16_pair_fp8_plain_tiles_avx512);
    all.push_back({Contract::int8_block, PanelKind::mxfp4, "int8-block on plain tiles", kAvx512 | kAvx512Vnni | kAvx512Vbmi, kInt8Tiles,
                   int8_block_plain_tiles_avx512});
#endif
    return all;
  }();
  return kKernels;
}

}  // namespace mx::tests
