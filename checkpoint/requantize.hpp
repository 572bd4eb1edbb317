#pragma once
// What the engine makes of FP8 codes whose gate and up have unlike scales: both are quantized again with the larger one.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mx::checkpoint {

/// The code that becomes of each e4m3 code, from one scale to a larger one, both as fp32 bits: code and scale are multiplied in fp16, the product is
/// divided by the new scale as a product with its fp32 reciprocal, held within 448, and rounded to nearest even. NaN becomes 448, as its clamp has
/// it. By the engine's text, not run. Source: vllm quantization/utils/fp8_utils.py process_fp8_weight_tensor_strategy_moe; w8a8_utils.py
/// per_tensor_dequantize; csrc/quantization/w8a8/fp8/common.cuh scaled_fp8_conversion.
std::array<std::uint8_t, 256> requantized_codes(std::uint32_t from, std::uint32_t to);

/// One half of an expert's w13 that is quantized again.
struct Requantized {
  int expert;
  int half;            ///< 0 gate, 1 up
  std::uint32_t from;  ///< fp32 bits of its scale
  std::uint32_t to;    ///< of the larger one
};

/// What the loss of it is called. The way back has no scale that the new codes belong to.
inline constexpr std::string_view kRequantized = "codes quantized again, since gate and up have unlike scales";

/// Codes that change, and those of them whose number stays.
struct RequantizedCount {
  std::int64_t changed = 0;
  std::int64_t kept = 0;
};

/// Of e4m3 codes of the half, one a byte.
RequantizedCount count_requantized(const Requantized& half, std::span<const std::uint8_t> codes);
/// In place.
void requantize(const Requantized& half, std::span<std::uint8_t> codes);

}  // namespace mx::checkpoint
