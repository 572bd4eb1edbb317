// Elementary functions, compiled for this file's instruction sets.

#include "kernels/functions/loops.hpp"

namespace mx::kernels {

const Evaluators kEvaluatorsAvx512{{exp_loop, exp2_loop, log2_loop, log1p_loop, tanh_loop, erf_loop}};

}  // namespace mx::kernels
