#pragma once
// Activations and quantizers as kernels on sm_90 have them, by their own elementary functions and divisions: rows beside the tables of moe and
// numerics, which say what any device computes.

#include <span>
#include <string_view>

#include "model/families/arithmetic.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::families {

/// Activations beside finer squares of FP8: no library's format, but what vLLM's quantizer makes of another group_size.
inline constexpr BlockFormat kFp8Group64{"fp8_e4m3_g64", &kE4m3fn, &kF32, 64, "vLLM fused_moe/oracle/fp8.py: blocks that ranks cut"};

std::span<const moe::Activation> device_activations();
/// A row of these or of the activation table. Throws Error(usage) with the nearest known name.
const moe::Activation& activation_row(std::string_view name);
/// The row that stands for an activation of the activation table on a device; where the device's own was not run, that one.
const moe::Activation& activation_on(std::string_view name, const Operation& operation);

struct DeviceRecipe {
  std::string_view name;
  Recipe recipe;
};
std::span<const DeviceRecipe> device_recipes();
/// Throws Error(usage) with the nearest known name.
const Recipe& device_recipe(std::string_view name);

}  // namespace mx::families
