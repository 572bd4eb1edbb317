#pragma once
// Kernels between the two products that join an activation with what quantizes its result: data. What the activation gives is rounded to `type`
// before it is quantized; fp32 means that nothing is.

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
  std::string_view activation;  ///< of activation_row()
  moe::ActivationConstants constants;
  const Format* type;
  std::string_view recipe;             ///< of device_recipes(); empty: nothing is quantized
  std::string_view power_of_two = {};  ///< the recipe in e8m0 mode; empty: the kernel has none
  std::int64_t lane = 0;               ///< values of a thread: where all of one are NaN, the group's scale is the least; 0: no matter
  std::string_view source;
};

std::span<const Between> all_between();
/// Codes and scales of groups of 128 of a row.
struct QuantizedRow {
  std::vector<std::uint32_t> codes;
  std::vector<std::uint32_t> scales;  ///< fp32 bits
};
/// What the kernel's quantizer makes of its activation's numbers, fp32 bits, whole groups of 128. `powers_of_two`: in e8m0 mode.
QuantizedRow quantize_between(const Between& kernel, bool powers_of_two, std::span<const std::uint32_t> act);

/// Throws Error(usage) with the nearest known name.
const Between& between_named(std::string_view kernel);

/// Whether silu_and_mul adds 0 to up first: -0 acts as +0. Source: vllm 7ca49fbe4, outputs of an H100.
constexpr bool adds_zero_to_up(deployment::Engine engine) { return deployment::since(deployment::kVllm2026_08).has(engine); }

}  // namespace mx::families
