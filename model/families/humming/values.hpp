#pragma once
// What Humming's weight preparation for 8-bit activations does to values: an expert's e8m0 scales become small numbers beside one global scale, and
// where a scale is too far below the largest, its codes are re-quantized.
// Source: mgoin/humming (a fork of inclusionAI/humming), humming/include/humming/kernel/process_mxfp4.cuh, process_mxfp4_w4a8; spec layouts 8.3.

#include <cstdint>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::layout::humming {

/// An e2m1 code divided by 2^delta, to nearest with ties away from zero. Of its two zeros only +0 is read as one; a negative number that becomes zero
/// keeps its sign. delta 0..127.
std::uint8_t requantized(std::uint8_t code, int delta);
inline constexpr int kLargestDelta = 127;

/// How far below an expert's largest scale its others may stay: 12 for e4m3 activations, 3 for int8.
int scale_range(InputDtype activations);

// The hooks of the backend's row: without effect for 16-bit activations.

void fused_values(LayerUnits& units, const Setting& setting, std::vector<Loss>& losses);
void fused_values_back(LayerUnits& units, const Setting& setting);

}  // namespace mx::layout::humming
