// bf16-block by fused multiply-adds of 256 bits.

#include "kernels/moe/avx2_e2m1.hpp"
#include "kernels/moe/fma_block.hpp"

namespace mx::kernels::moe {

void bf16_block_avx2(const TileArgs& args) { run(args, args.careful ? kE8m0Kind<E2m1> : kE8m0Kind<UnsignedZeroE2m1>); }
void bf16_block_mxfp8_avx2(const TileArgs& args) { run(args, kE8m0Kind<E4m3>); }
void bf16_block_nvfp4_avx2(const TileArgs& args) { run(args, args.careful ? kE4m3Kind<E2m1> : kE4m3Kind<UnsignedZeroE2m1>); }
void bf16_block_fp8_avx2(const TileArgs& args) { run(args, kF32Kind<E4m3>); }

}  // namespace mx::kernels::moe
