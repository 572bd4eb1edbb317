#pragma once
// Elementary functions in double precision, as kernels of every instruction set evaluate them. C headers only: see mxact_isa_sources.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels {

/// erf around i / 16 is the sum of coefficient[n * 64 + i] * h^n: 64 centers, h from 0 to 1/16.
inline constexpr size_t kErfCenters = 64;
inline constexpr size_t kErfTerms = 14;
struct ErfTable {
  double coefficient[kErfTerms * kErfCenters];
};

/// y[i]: the function of x[i], fp32 bits. doubt[i] is not 0 where the error of the evaluation could have rounded it wrongly, or x[i] has no finite
/// result that the formula gives; y[i] means nothing there.
using Evaluate = void(const uint32_t* x, size_t count, const ErfTable& erf, uint32_t* y, uint32_t* doubt);

/// In the order of elementary_functions().
struct Evaluators {
  Evaluate* run[6];
};
extern const Evaluators kEvaluatorsPortable;
extern const Evaluators kEvaluatorsAvx2;
extern const Evaluators kEvaluatorsAvx512;

}  // namespace mx::kernels
