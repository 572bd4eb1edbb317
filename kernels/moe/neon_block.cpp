// bf16-block by fused multiply-adds of AArch64's vectors. A chain's sums are exact where they are subnormal, whole units of 2^-142 at the least
// (2^-133 of an activation by 2^-9 of a code), so that it does not matter whether they are judged before or after they are rounded.

#include "kernels/moe/neon_vectors.hpp"
// The vectors come first.
#include "kernels/moe/fma_block.hpp"

namespace mx::kernels::moe {

void bf16_block_neon(const TileArgs& args) { run(args, kE8m0Kind<E2m1>); }
void bf16_block_mxfp8_neon(const TileArgs& args) { run(args, kE8m0Kind<E4m3>); }
void bf16_block_nvfp4_neon(const TileArgs& args) { run(args, kE4m3Kind<E2m1>); }
void bf16_block_fp8_neon(const TileArgs& args) { run(args, kF32Kind<E4m3>); }

}  // namespace mx::kernels::moe
