// bf16-block of weights in e4m3 by fused multiply-adds of 512 bits.

#include "kernels/moe/avx512_vbmi_vectors.hpp"
#include "kernels/moe/fma_block.hpp"

namespace mx::kernels::moe {

void bf16_block_mxfp8_avx512(const TileArgs& args) { run(args, kE8m0Kind<E4m3>); }
void bf16_block_fp8_avx512(const TileArgs& args) { run(args, kF32Kind<E4m3>); }

}  // namespace mx::kernels::moe
