#define MXACT_LANES 8
#include "kernels/dot/aligned_lanes.hpp"

namespace mx::kernels::dot {

void aligned_avx2(const AlignedArgs& args) { aligned_lanes(args); }
void fp4_avx2(const Fp4Args& args) { fp4_lanes(args); }

}  // namespace mx::kernels::dot
