#pragma once
// What kernels ask of the compiler.

/// In front of a loop whose registers must not be looked up.
#define MXACT_UNROLL _Pragma("GCC unroll 16")
#define MXACT_INLINE inline __attribute__((always_inline))
