#pragma once
// What Humming's weight preparation for 8-bit activations does to values: an expert's e8m0 scales become small numbers beside one global scale, and
// where a scale is too far below the largest, its codes are re-quantized.
// Source: mgoin/humming (a fork of inclusionAI/humming), humming/include/humming/kernel/process_mxfp4.cuh, process_mxfp4_w4a8.

#include <cstdint>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::families::humming {

/// An e2m1 code divided by 2^delta, to nearest with ties away from zero. Of its two zeros only +0 is read as one; a negative number that becomes zero
/// keeps its sign. From kFirstSpoilt on the kernel's power of two is none, and codes become others, zeros too. delta 0..255.
/// Source: whole conversions of humming-kernels 0.1.19 on an H100 (golden/witness/layouts-humming).
std::uint8_t requantized(std::uint8_t code, int delta);
inline constexpr int kLargestDelta = 127;
inline constexpr int kFirstSpoilt = 128;

inline constexpr std::int64_t kPaddedRows = 256;
inline constexpr std::int64_t kPaddedColumns = 128;

/// Whether 8-bit activations are asked for.
bool is_a_8bit(const Setting& setting);
/// Whether humming-kernels is 0.1.12 or later, and not 0.1.0.
bool is_0_1_12(const Setting& setting);
/// Kernels that multiply scaled blocks themselves: 0.1.12 on sm120 with fp8 activations.
bool is_mxmma(const Setting& setting);
/// Whether scales become small numbers beside a global scale.
bool fuses(const Setting& setting);
/// Whether the bits of a word's codes part: 0.1.12 with fp8 activations.
bool splits_signs(const Setting& setting);

/// How far below the largest scale of an expert (of a row, for int8 of 0.1.12) others may stay: 3 for int8, 12 for e4m3 activations, 11 of 0.1.12.
int scale_range(const Setting& setting);

/// Row-major memory of what fused_values makes: all scales of the padded matrix, as they lie in the loaded buffer; global scales per expert in fp32,
/// for int8 of 0.1.12 per row in the parameters' dtype.
layout::Layout fused_scales(layout::Role role, const Setting& setting);
layout::Layout global_scales(layout::Role role, const Setting& setting);

// The hooks of the backend's row: without effect where nothing is fused.

void fused_values(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses);
/// Throws Error(input) for a global scale that is no power of two, and for a scale that is none of e8m0.
void fused_values_back(layout::LayerUnits& units, const Setting& setting);

/// FP8: fp32 scales rounded to bf16, which is reported where it changes them; and back.
void scales_to_bf16(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses);
void scales_from_bf16(layout::LayerUnits& units, const Setting& setting);

}  // namespace mx::families::humming
