// bf16-chain by fused multiply-adds of 256 bits.

#include "kernels/moe/avx2_vectors.hpp"
#include "kernels/moe/fma_chain.hpp"

namespace mx::kernels::moe {

void bf16_chain_avx2(const TileArgs& args) { run(args, kE8m0Kind<E2m1>); }
void bf16_chain_mxfp8_avx2(const TileArgs& args) { run(args, kE8m0Kind<E4m3>); }
void bf16_chain_nvfp4_avx2(const TileArgs& args) { run(args, kNvfp4Kind); }
void bf16_chain_fp8_avx2(const TileArgs& args) { run(args, kF32Kind<E4m3>); }

}  // namespace mx::kernels::moe
