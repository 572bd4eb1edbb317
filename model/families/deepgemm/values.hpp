#pragma once
// What the engine does to FP8 weights in blocks of 128 x 128 on their way to DeepGEMM: with VLLM_USE_DEEP_GEMM_E8M0 on, every block is quantized
// anew with a scale that is a power of two, whatever its scale was and whatever the device.
// Source: vllm-project/vllm, vllm/model_executor/layers/quantization/utils/fp8_utils.py, requant_weight_ue8m0_inplace; spec layouts 4.1.

#include <cstdint>
#include <span>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::families::deepgemm {

/// Whether the kernel's scales are exponents alone, four to a word.
bool packs(const Setting& setting);

/// Quantizes the blocks anew and, where the kernel packs them, leaves the scales' exponents alone; reports codes and scales that changed. Throws
/// Error(unsupported) for a block with a NaN or Inf whose scale would have to be packed.
void requantize(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses);
/// One block's codes for a scale that is a power of two, in the place of those for `scale`; returns it, fp32 bits.
std::uint32_t requantize_block(std::span<std::uint8_t> codes, std::uint32_t scale);
/// The way back to the requantized checkpoint.
void exponents_back(layout::LayerUnits& units, const Setting& setting);

}  // namespace mx::families::deepgemm
