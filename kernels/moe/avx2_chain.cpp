// bf16-chain by fused multiply-adds of 256 bits.

#include "kernels/moe/avx2_vectors.hpp"
#include "kernels/moe/fma_chain.hpp"

namespace mx::kernels::moe {

void bf16_chain_avx2(const TileArgs& args) { run(args, kMxfp4); }
void bf16_chain_mxfp8_avx2(const TileArgs& args) { run(args, kMxfp8); }
void bf16_chain_nvfp4_avx2(const TileArgs& args) { run(args, kNvfp4); }
void bf16_chain_fp8_avx2(const TileArgs& args) { run(args, kFp8); }

}  // namespace mx::kernels::moe
