#pragma once
// Needs of the engine's code around a kernel: exchanges, placement of experts, loaders, methods. For need_tables() alone.

#include <span>

#include "model/families/needs.hpp"

namespace mx::audit {

/// Of exchanges and prepare steps.
std::span<const families::KernelNeed> exchange_needs();
/// Of classes whatever their weights are.
std::span<const families::KernelNeed> common_needs();
/// Of a model's constants and biases, whatever the class.
std::span<const families::KernelNeed> constant_needs();
/// Of quantization methods that take a class by the device.
std::span<const families::KernelNeed> method_needs();
/// Of gpt-oss checkpoints: of their loader, then of the method and its converters.
std::span<const families::KernelNeed> gpt_oss_loader_needs();
std::span<const families::KernelNeed> gpt_oss_needs();
/// Of DeepSeek-V4's.
std::span<const families::KernelNeed> deepseek_v4_needs();

}  // namespace mx::audit
