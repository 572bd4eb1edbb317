#pragma once
// What Marlin's weight preparation does to values, scale by scale. Casts between float formats are torch's on CUDA, where the preparation runs.
// Source: vllm-project/vllm, vllm/model_executor/layers/quantization/utils/marlin_utils_fp4.py and marlin_utils_fp8.py; spec layouts 6.3 - 6.5.

#include <cstdint>
#include <span>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::families::marlin {

/// fp32 bits -> bits of the parameters' dtype, nearest even.
std::uint32_t to_params(std::uint32_t f32, ParamsDtype dtype);

/// An e8m0 code after a round trip through the parameters' dtype: bf16 keeps all 256; fp16 makes 1..102 0 and 143..254 255.
std::uint8_t e8m0_through(std::uint8_t code, ParamsDtype dtype);
/// Added to e8m0 scales for e4m3 activations: the difference of the exponent biases of e4m3 and e2m1.
inline constexpr int kFp8ActivationOffset = 6;
/// The largest byte to which that can be added.
inline constexpr int kLargestOffsetByte = 249;

/// log2 of the factor that all e4m3 scales of a tensor are multiplied by: the largest power of two that keeps the largest of them within 448; 0
/// without a positive scale and for fp16 parameters.
int nvfp4_factor(std::span<const std::uint8_t> scales, ParamsDtype dtype);
/// An e4m3 scale times 2^factor as S0E5M3: bits 14..7 of the fp16 number 128 times as large, 0 below 2; a NaN is 0xFF.
std::uint8_t nvfp4_scale(std::uint8_t code, int factor);
/// The e4m3 code whose nvfp4_scale with factor 0 is `byte`. Throws Error(input) on a byte that no scale becomes.
std::uint8_t nvfp4_scale_back(std::uint8_t byte);
/// fp32 bits of a global scale * 2^(b - 7) / 2^factor, b = 126 for bf16 and 14 for fp16: what the dequantizer's exponents leave out.
std::uint32_t nvfp4_global_scale(std::uint32_t f32, int factor, ParamsDtype dtype);
/// fp32 bits of the global scale that becomes `f32` with factor 0.
std::uint32_t nvfp4_global_scale_back(std::uint32_t f32, ParamsDtype dtype);

/// An fp32 scale of e4m3 weights, rounded into the parameters' dtype and multiplied there by 2^120 (bf16) or 2^8 (fp16).
std::uint32_t fp8_scale(std::uint32_t f32, ParamsDtype dtype);
/// fp32 bits of the scale in the parameters' dtype that becomes `code`.
std::uint32_t fp8_scale_back(std::uint32_t code, ParamsDtype dtype);

// The same for the tensors of a layer: the hooks of the backends' rows.

void nvfp4_values(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses);
void nvfp4_values_back(layout::LayerUnits& units, const Setting& setting);
void fp8_values(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses);
void fp8_values_back(layout::LayerUnits& units, const Setting& setting);

/// Where the scales of e4m3 weights go. `given` holds them as [E], [E, rows] or [E, rows, columns] of scales, 16 bits each: fewer scales than rows of
/// the weight are repeated, rows beyond the weight's cut off; then the weight's padding, and Marlin's order. Setting: sizes, form, engine.
layout::Layout fp8_scale_layout(layout::Layout given, layout::Role role, const Setting& setting);

}  // namespace mx::families::marlin
