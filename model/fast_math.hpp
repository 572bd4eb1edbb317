#pragma once
// Included by every header that others build on: with fast-math the compiler may reorder sums and drop NaN, Inf, -0 and subnormals.

#ifdef __FAST_MATH__
#error "mxact is bit-exact: it cannot be compiled with -ffast-math"
#endif
