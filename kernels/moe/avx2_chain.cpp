// bf16-chain by fused multiply-adds of 256 bits.

#include "kernels/moe/avx2_e2m1.hpp"
#include "kernels/moe/fma_chain.hpp"

namespace mx::kernels::moe {
namespace {

constexpr Kind kUnsignedZeroNvfp4{E2m1::kBits, 1, {way<UnsignedZeroSplitE2m1, E4m3Fold>(is_expert_moderate), kNvfp4Kind.ways[1]}, nullptr, nullptr};

}  // namespace

void bf16_chain_avx2(const TileArgs& args) { run(args, args.careful ? kE8m0Kind<E2m1> : kE8m0Kind<UnsignedZeroE2m1>); }
void bf16_chain_mxfp8_avx2(const TileArgs& args) { run(args, kE8m0Kind<E4m3>); }
void bf16_chain_nvfp4_avx2(const TileArgs& args) { run(args, args.careful ? kNvfp4Kind : kUnsignedZeroNvfp4); }
void bf16_chain_fp8_avx2(const TileArgs& args) { run(args, kF32Kind<E4m3>); }

}  // namespace mx::kernels::moe
