// bf16-chain of weights in e2m1 by fused multiply-adds of 512 bits.

#include "kernels/moe/avx512_vectors.hpp"
#include "kernels/moe/fma_chain.hpp"

namespace mx::kernels::moe {

void bf16_chain_avx512(const TileArgs& args) { run(args, kE8m0Kind<E2m1>); }
void bf16_chain_nvfp4_avx512(const TileArgs& args) { run(args, kNvfp4Kind); }

}  // namespace mx::kernels::moe
