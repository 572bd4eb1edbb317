#pragma once
// Blocks of activations into MXINT8: plain data and C headers alone, since every tier's file includes this.

#include <stdint.h>

namespace mx::kernels::moe {

/// MX 1.0 section 6.3 on 32 numbers whose largest magnitude has an exponent field in 16..240: scale byte of 2^floor(log2(largest)), elements to
/// nearest even in units of 2^-6 of it, at most 127 units. Returns false for other blocks, whose codes and scale then mean nothing.
using QuantizeFunction = bool(const float* x, int8_t* codes, uint8_t* scale);

inline constexpr int kQuantizedBlock = 32;

QuantizeFunction quantize_portable;
QuantizeFunction quantize_avx2;
QuantizeFunction quantize_avx512;

}  // namespace mx::kernels::moe
