// bf16-block by fused multiply-adds of 512 bits.

#include "kernels/moe/avx512_vectors.hpp"
#include "kernels/moe/fma_block.hpp"

namespace mx::kernels::moe {

void bf16_block_avx512(const TileArgs& args) { run(args, kMxfp4); }
void bf16_block_mxfp8_avx512(const TileArgs& args) { run(args, kMxfp8); }
void bf16_block_nvfp4_avx512(const TileArgs& args) { run(args, kNvfp4); }
void bf16_block_fp8_avx512(const TileArgs& args) { run(args, kFp8); }

}  // namespace mx::kernels::moe
