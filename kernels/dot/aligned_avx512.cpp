#define MXACT_LANES 16
#include "kernels/dot/aligned_lanes.hpp"

namespace mx::kernels::dot {

void aligned_avx512(const AlignedArgs& args) { aligned_lanes(args); }
void fp4_avx512(const Fp4Args& args) { fp4_lanes(args); }

}  // namespace mx::kernels::dot
