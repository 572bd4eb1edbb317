#include "kernels/moe/combine_lanes.hpp"
#include "kernels/moe/dequantize_lanes.hpp"
#include "kernels/moe/quantize_lanes.hpp"
#include "kernels/moe/swish_lanes.hpp"

namespace mx::kernels::moe {

void swish_avx512(const Swish& swish, const SwishTile& tile) { swish_lanes(swish, tile); }

void combine_avx512(const CombineArgs& args) { combine_lanes(args); }

bool quantize_avx512(const float* x, int8_t* codes, uint8_t* scale) { return quantize_lanes(x, codes, scale); }

void dequantize_avx512(uint16_t* codes, size_t count, float scale) { dequantize_lanes(codes, count, scale); }

}  // namespace mx::kernels::moe
