#include "kernels/moe/combine_lanes.hpp"
#include "kernels/moe/swish_lanes.hpp"

namespace mx::kernels::moe {

uint32_t swish_avx512(const Swish& swish, const float* gate, const float* up, float* out) { return swish_lanes(swish, gate, up, out); }

void combine_avx512(const CombineArgs& args) { combine_lanes(args); }

}  // namespace mx::kernels::moe
