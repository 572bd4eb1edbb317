#pragma once
// Quantized activations back to bf16: plain data and C headers alone, since every tier's file includes this.

#include <stddef.h>
#include <stdint.h>

namespace mx::kernels::moe {

/// Scales from here on have no subnormal products with elements of 8 bits or fewer: zeros, NaNs, Infs and magnitudes from 2^-16 on.
constexpr float kLeastDequantizable = 0x1p-109F;

/// codes[i] = the exact product of bf16 codes[i], such an element, and such a scale, rounded once to bf16, nearest even, overflow to Inf; of NaNs
/// 0x7FC0.
using DequantizeFunction = void(uint16_t* codes, size_t count, float scale);

DequantizeFunction dequantize_portable;
DequantizeFunction dequantize_avx2;
DequantizeFunction dequantize_avx512;

}  // namespace mx::kernels::moe
