// bf16-block of weights in e2m1 by fused multiply-adds of 512 bits.

#include "kernels/moe/avx512_paired_e2m1.hpp"
#include "kernels/moe/fma_block.hpp"

namespace mx::kernels::moe {
namespace {

/// The scales of panels that takes_paired() takes, half the work of those of any. e4m3's fields are those of fp32 with another bias, but a subnormal
/// number then has a leading one: twice that less the smallest normal number, which is the smaller of the two for these alone.
inline Floats positive_scales(const TileArgs& args, const uint8_t* scales) {
  const __m512i fields = _mm512_slli_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales))), 20);
  const Floats normal = _mm512_castsi512_ps(_mm512_add_epi32(fields, _mm512_set1_epi32((127 - 7) << 23)));
  return product(_mm512_min_ps(normal, fused(normal, all(2), all(-0x1p-6F))), all(args.expert_scale));
}

bool are_positive(const TileArgs& args) {
  const size_t blocks = args.blocks * kScaleBlock / args.scale_block;
  for (size_t panel = 0; panel < args.panels; ++panel) {
    if (!takes_paired(args, args.scales + panel * args.scale_stride, blocks)) return false;
  }
  return true;
}

}  // namespace

void bf16_block_avx512(const TileArgs& args) { run(args, kE8m0Kind<E2m1>); }
void bf16_block_nvfp4_avx512(const TileArgs& args) { run(args, are_positive(args) ? kE4m3Kind<E2m1, positive_scales> : kE4m3Kind<E2m1>); }

}  // namespace mx::kernels::moe
