// The loops of encode_loops.hpp with AVX2.

#include "kernels/sweep/encode_loops.hpp"

namespace mx::kernels::sweep {

const EncodeLoops kEncodeAvx2{{encode_floating, encode_powers}, {encode_floating, encode_powers}, {encode_floating, encode_powers}, weigh_codes};

}  // namespace mx::kernels::sweep
