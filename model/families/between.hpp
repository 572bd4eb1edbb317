#pragma once
// Kernels between the two products: activations of the engine's, and those that join one with what quantizes its result: data. What the activation
// gives is rounded to `type` before it is quantized; fp32 means that nothing is.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/deployment/version.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::families {

struct Between {
  std::string_view name;
  std::string_view activation;              ///< of activation_row()
  std::string_view limited = {};            ///< likewise, of a model with a limit; empty: the kernel reads none
  moe::ActivationConstants constants = {};  ///< but for the limit
  const Format* type = &kBf16;
  std::string_view recipe = {};        ///< of device_recipes(); empty: nothing is quantized
  std::string_view power_of_two = {};  ///< the recipe in e8m0 mode; empty: the kernel has none
  std::int64_t lane = 0;               ///< values of a thread: where all of one are NaN, the group's scale is the least; 0: no matter
  bool scales_in_type = false;         ///< 1 / 448, the scale, its reciprocal and the products with it are rounded to `type`
  deployment::Versions adds_zero = deployment::kNever;  ///< to up: -0 acts as +0
  std::string_view source;
};

std::span<const Between> all_between();
/// What it computes of a model; a limit of 0: none.
const moe::Activation& activation_of(const Between& kernel, std::uint32_t limit);
/// The constants with it: the kernel's own, and the model's limit.
moe::ActivationConstants constants_of(const Between& kernel, std::uint32_t limit);

/// Codes and scales of groups of 128 of a row.
struct QuantizedRow {
  std::vector<std::uint32_t> codes;
  std::vector<std::uint32_t> scales;  ///< fp32 bits
};
/// What the kernel's quantizer makes of its activation's numbers, fp32 bits, whole groups of 128. `powers_of_two`: in e8m0 mode.
QuantizedRow quantize_between(const Between& kernel, bool powers_of_two, std::span<const std::uint32_t> act);

/// Throws Error(usage) with the nearest known name.
const Between& between_named(std::string_view kernel);

}  // namespace mx::families
