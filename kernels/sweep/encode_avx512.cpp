// The loops of encode_loops.hpp with AVX-512.

#include "kernels/sweep/encode_loops.hpp"

namespace mx::kernels::sweep {

const EncodeLoops kEncodeAvx512{{encode_floating, encode_powers}, {encode_floating, encode_powers}, {encode_floating, encode_powers}, weigh_codes};

}  // namespace mx::kernels::sweep
