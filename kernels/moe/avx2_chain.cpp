// bf16-chain and bf16-pair by fused multiply-adds of 256 bits.

#include "kernels/moe/avx2_e2m1.hpp"
#include "kernels/moe/avx2_paired_e2m1.hpp"
#include "kernels/moe/fma_chain.hpp"

namespace mx::kernels::moe {
namespace {

struct PairedFold {
  static constexpr size_t kBytes = 1;
  PairedScales scales;

  MXACT_INLINE static PairedFold of(const Job& job, const uint8_t* at) { return {PairedScales::of(job.args.expert_scale, at)}; }
  /// The odd one of a pair comes first.
  template <size_t I>
  MXACT_INLINE Floats operator()(size_t v, PairedE2m1::Weight<I> weight) const {
    const Dwords pair = scales.pair<I / 2>(v, weight.dwords);
    return _mm256_castsi256_ps(I % 2 == 0 ? _mm256_and_si256(pair, _mm256_set1_epi32(-0x10000)) : _mm256_slli_epi32(pair, 16));
  }
};

constexpr Kind kNvfp4{E2m1::kBits, 1, {way<PairedE2m1, PairedFold>(takes_paired), kNvfp4Kind.ways[0], kNvfp4Kind.ways[1]}, nullptr, nullptr, nullptr};

}  // namespace

void bf16_chain_avx2(const TileArgs& args) { run_chains(args, args.careful ? kE8m0Kind<E2m1> : kE8m0Kind<UnsignedZeroE2m1>); }
void bf16_chain_mxfp8_avx2(const TileArgs& args) { run_chains(args, kE8m0Kind<E4m3>); }
void bf16_chain_nvfp4_avx2(const TileArgs& args) { run_chains(args, kNvfp4); }
void bf16_chain_fp8_avx2(const TileArgs& args) { run_chains(args, kF32Kind<E4m3>); }

void bf16_pair_avx2(const TileArgs& args) { run_pairs(args, args.careful ? kE8m0Kind<E2m1> : kE8m0Kind<UnsignedZeroE2m1>); }
void bf16_pair_mxfp8_avx2(const TileArgs& args) { run_pairs(args, kE8m0Kind<E4m3>); }
void bf16_pair_nvfp4_avx2(const TileArgs& args) { run_pairs(args, kNvfp4); }
void bf16_pair_fp8_avx2(const TileArgs& args) { run_pairs(args, kF32Kind<E4m3>); }

}  // namespace mx::kernels::moe
