// int8-block by products of 16 bits.

#include "kernels/moe/neon_int8.hpp"

namespace mx::kernels::moe {
namespace {

/// Eight products of at most 12 * 128 each stay below 2^15.
struct WideQuads {
  int16x8_t low = vdupq_n_s16(0);
  int16x8_t high = vdupq_n_s16(0);

  MXACT_INLINE void add(int8x16_t weights, int8x16_t a) {
    low = vmlal_s8(low, vget_low_s8(weights), vget_low_s8(a));
    high = vmlal_high_s8(high, weights, a);
  }
  MXACT_INLINE int32x4_t columns() const { return vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)); }
};

}  // namespace

void int8_block_neon(const TileArgs& args) { run<WideQuads, 4, e8m0>(args); }
void int8_block_nvfp4_neon(const TileArgs& args) { run<WideQuads, 2, e4m3>(args); }

}  // namespace mx::kernels::moe
