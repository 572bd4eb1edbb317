// bf16-chain and bf16-pair of weights in e2m1 by fused multiply-adds of 512 bits.

#include "kernels/moe/avx512_paired_e2m1.hpp"
#include "kernels/moe/fma_chain.hpp"

namespace mx::kernels::moe {
namespace {

struct PairedFold {
  static constexpr size_t kBytes = 1;
  PairedScales scales;

  MXACT_INLINE static PairedFold of(const Job& job, const uint8_t* at) { return {PairedScales::of(job.products, at)}; }
  /// The odd one of a pair comes first.
  template <size_t I>
  MXACT_INLINE Floats operator()(size_t v, PairedE2m1::Weight<I> weight) const {
    const __m512i pair = scales.pair(v, words_of<I / 2>(weight.dwords));
    return _mm512_castsi512_ps(I % 2 == 0 ? _mm512_and_si512(pair, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U))) : _mm512_slli_epi32(pair, 16));
  }
};
static_assert(2 * kPairedScales <= kProducts);

constexpr Kind kNvfp4{E2m1::kBits,    1,       {way<PairedE2m1, PairedFold>(takes_paired), kNvfp4Kind.ways[0], kNvfp4Kind.ways[1]},
                      prepare_paired, nullptr, nullptr};

}  // namespace

void bf16_chain_avx512(const TileArgs& args) { run_chains(args, kE8m0Kind<E2m1>); }
void bf16_chain_nvfp4_avx512(const TileArgs& args) { run_chains(args, kNvfp4); }

void bf16_pair_avx512(const TileArgs& args) { run_pairs(args, kE8m0Kind<E2m1>); }
void bf16_pair_nvfp4_avx512(const TileArgs& args) { run_pairs(args, kNvfp4); }

}  // namespace mx::kernels::moe
