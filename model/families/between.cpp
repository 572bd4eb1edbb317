#include "model/families/between.hpp"

#include <algorithm>
#include <array>

#include "model/families/device_rows.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

constexpr moe::ActivationConstants kNone{0, 0, 0, 0};
constexpr moe::ActivationConstants kAlphaOne{0x3F800000U, 0, 0, 0};
constexpr std::string_view kSource = "vllm at 7e1b45a09: outputs of an H100";

constexpr std::array kBetween{
    Between{"silu_and_mul", "silu_and_mul", kNone, &kBf16, {}, {}, 0, kSource},
    Between{"silu_and_mul_per_block_quant", "silu_and_mul_block_quant", kAlphaOne, &kF32, "vllm-silu-block", {}, 0, kSource},
    Between{"silu_mul_per_token_group_quant_fp8_colmajor", "silu_and_mul_triton_sm90", kNone, &kBf16, "vllm-group-triton", "vllm-group-triton-ue8m0",
            0, kSource},
    Between{"humming_process_input", "silu_and_mul_humming", kNone, &kF32, "humming-group", {}, 4, "humming-kernels 0.1.19: outputs of an H100"},
};

/// A group under the scale that a group of zeros has.
QuantizedBlock requantized_by_least(std::span<const std::uint32_t> group, const Recipe& how) {
  const BlockScaling least = block_scaling(0, kF32, how);
  QuantizedBlock block{least.scale, {}, {}};
  const Conversion& element = element_conversion(how);
  for (const std::uint32_t x : group) block.codes.push_back(convert(f32::mul(x, least.factor), kF32, *how.format->element, element));
  return block;
}

}  // namespace

std::span<const Between> all_between() { return kBetween; }

QuantizedRow quantize_between(const Between& kernel, bool powers_of_two, std::span<const std::uint32_t> act) {
  constexpr std::size_t kGroup = 128;
  const Recipe& how = device_recipe(powers_of_two ? kernel.power_of_two : kernel.recipe);
  const auto lane = static_cast<std::size_t>(kernel.lane);
  QuantizedRow made;
  for (std::size_t first = 0; first < act.size(); first += kGroup) {
    const std::span<const std::uint32_t> group = act.subspan(first, kGroup);
    const auto is_lost = [&](std::size_t at) { return std::ranges::all_of(group.subspan(at, lane), f32::is_nan); };
    bool lost = false;
    for (std::size_t at = 0; lane != 0 && at < kGroup; at += lane) lost = lost || is_lost(at);
    // The scale of a group without numbers.
    const QuantizedBlock block = lost ? requantized_by_least(group, how) : quantize_block(group, kF32, how);
    made.codes.insert(made.codes.end(), block.codes.begin(), block.codes.end());
    made.scales.push_back(block.scale);
  }
  return made;
}

const Between& between_named(std::string_view kernel) { return rows::named(kBetween, "kernel between the products", kernel); }

}  // namespace mx::families
