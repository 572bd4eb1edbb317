// The loops of encode_loops.hpp for every processor.

#include "kernels/sweep/encode_loops.hpp"

namespace mx::kernels::sweep {

const EncodeLoops kEncodePortable{{encode_floating, encode_powers}, {encode_floating, encode_powers}, {encode_floating, encode_powers}, weigh_codes};

}  // namespace mx::kernels::sweep
