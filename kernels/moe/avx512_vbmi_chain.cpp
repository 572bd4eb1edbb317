// bf16-chain of weights in e4m3 by fused multiply-adds of 512 bits.

#include "kernels/moe/avx512_vbmi_vectors.hpp"
#include "kernels/moe/fma_chain.hpp"

namespace mx::kernels::moe {

void bf16_chain_mxfp8_avx512(const TileArgs& args) { run(args, kE8m0Kind<E4m3>); }
void bf16_chain_fp8_avx512(const TileArgs& args) { run(args, kF32Kind<E4m3>); }

}  // namespace mx::kernels::moe
