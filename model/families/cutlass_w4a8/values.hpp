#pragma once
// Value changes of the W4A8 conversion (int4 weights, fp8 activations, CUTLASS on sm90), for its blocks and its backend.
// Source: vllm-project/vllm 017e9f4448b700e85ee16023287b025693c72b9e, files named beside each.

#include <array>
#include <cstdint>
#include <span>

#include "model/layout/layout.hpp"
#include "model/layout/tensor.hpp"

namespace mx::families {

/// Code of value + 8 -> two's complement, and back. quant_utils.py, convert_packed_uint4b8_to_signed_int4_inplace.
constexpr std::uint8_t uint4b8_to_int4(std::uint8_t code) { return code ^ 8U; }

/// Two's complement -> the kernel's code: 1..7 reversed, others kept; its own inverse. w4a8_utils.cu, unified_encode_int4b.
constexpr std::uint8_t w4a8_encode(std::uint8_t code) { return code >= 1 && code <= 7 ? static_cast<std::uint8_t>(8 - code) : code; }

/// The 8 codes that one e4m3 scale s becomes, first in the low byte: s * (j - 8) for j = 0..7, saturating, every NaN 0x7F. w4a8_mm_entry.cu,
/// pack_scale_fp8.
std::uint64_t w4a8_expand(std::uint8_t scale);

/// Group scales of one row (bf16) -> their e4m3 codes, an eighth of what fp8 quantization by row gives; returns the row's channel scale (fp32), eight
/// times its. quant_utils.py, convert_bf16_scales_to_fp8 over QuantFP8's native path; `codes` has the length of `scales`.
std::uint32_t w4a8_quantize_scales(std::span<const std::uint16_t> scales, std::span<std::uint8_t> codes);

/// What encode_and_reorder_int4b returns of the order of one expert: rows / 16, columns / 32, nibbles of 32 columns of all rows.
std::array<std::int32_t, 3> w4a8_layout_words(std::int64_t rows, std::int64_t columns);

namespace blocks {

/// cutlass_w4a8.reorder on the last two axes, of 4-bit elements: rows a multiple of 16, columns of 256.
layout::Layout& w4a8_reorder(layout::Layout& layout, std::string_view rows, std::string_view cols);

}  // namespace blocks

}  // namespace mx::families
