// int8-block by SDOT.

#include "kernels/moe/neon_int8.hpp"

namespace mx::kernels::moe {
namespace {

struct DotQuads {
  int32x4_t sums = vdupq_n_s32(0);

  MXACT_INLINE void add(int8x16_t weights, int8x16_t a) { sums = vdotq_s32(sums, weights, a); }
  MXACT_INLINE int32x4_t columns() const { return sums; }
};

}  // namespace

void int8_block_neon_dotprod(const TileArgs& args) { run<DotQuads, 4, e8m0>(args); }
void int8_block_nvfp4_neon_dotprod(const TileArgs& args) { run<DotQuads, 2, e4m3>(args); }

}  // namespace mx::kernels::moe
