#define MXACT_LANES 4
#include "kernels/dot/aligned_lanes.hpp"

namespace mx::kernels::dot {

void aligned_portable(const AlignedArgs& args) { aligned_lanes(args); }
void fp4_portable(const Fp4Args& args) { fp4_lanes(args); }

}  // namespace mx::kernels::dot
