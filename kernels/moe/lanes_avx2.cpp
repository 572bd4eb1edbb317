#include "kernels/moe/combine_lanes.hpp"
#include "kernels/moe/quantize_lanes.hpp"
#include "kernels/moe/swish_lanes.hpp"

namespace mx::kernels::moe {

uint32_t swish_avx2(const Swish& swish, const float* gate, const float* up, float* out) { return swish_lanes(swish, gate, up, out); }

void combine_avx2(const CombineArgs& args) { combine_lanes(args); }

bool quantize_avx2(const float* x, int8_t* codes, uint8_t* scale) { return quantize_lanes(x, codes, scale); }

}  // namespace mx::kernels::moe
