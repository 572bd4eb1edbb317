#include "model/families/between.hpp"

#include <algorithm>
#include <array>

#include "model/families/device_rows.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

constexpr moe::ActivationConstants kAlphaOne{0x3F800000U, 0, 0, 0};

constexpr deployment::Versions kSinceAugust = deployment::since(deployment::kVllm2026_08);
constexpr std::string_view kActivations = "vllm csrc/libtorch_stable/activation_kernels.cu, releases 0.22.1, 0.29.0 and 0.33.0: outputs of an H200";

constexpr std::array kBetween{
    Between{.name = "silu_and_mul", .activation = "silu_and_mul", .adds_zero = kSinceAugust, .source = kActivations},
    Between{.name = "gelu_and_mul", .activation = "gelu_and_mul", .adds_zero = kSinceAugust, .source = kActivations},
    Between{.name = "gelu_tanh_and_mul", .activation = "gelu_tanh_and_mul", .adds_zero = kSinceAugust, .source = kActivations},
    Between{.name = "silu_and_mul_with_clamp",
            .activation = "silu_and_mul",
            .limited = "silu_and_mul_clamp_cuda",
            .adds_zero = kSinceAugust,
            .source = kActivations},
    Between{.name = "swiglu_limit_torch",
            .activation = "silu_and_mul",
            .limited = "silu_and_mul_clamp_torch",
            .source = "vllm 0.22.1 fused_moe/utils.py swiglu_limit_func: outputs of an H200"},
    Between{.name = "swiglu_limit_pad_aware",
            .activation = "silu_and_mul_triton_sm90_once",
            .limited = "silu_and_mul_limit_triton_sm90_once",
            .source = "vllm 0.33.0 fused_moe/utils.py _swiglu_limit_pad_aware_kernel, the same in 0.29.0: outputs of an H200"},
    Between{.name = "silu_and_mul_per_block_quant",
            .activation = "silu_and_mul_block_quant",
            .constants = kAlphaOne,
            .type = &kF32,
            .recipe = "vllm-silu-block",
            .source = "vllm 7e1b45a09: outputs of an H100; 0.22.1, 0.29.0 and 0.33.0: outputs of an H200"},
    Between{.name = "silu_mul_per_token_group_quant_fp8_colmajor",
            .activation = "silu_and_mul_triton_sm90",
            .limited = "silu_and_mul_limit_triton_sm90",
            .recipe = "vllm-group-triton",
            .power_of_two = "vllm-group-triton-ue8m0",
            .adds_zero = kSinceAugust,
            .source = "vllm 7e1b45a09: outputs of an H100; 0.22.1, 0.29.0 and 0.33.0: outputs of an H200"},
    Between{.name = "silu_mul_quant_fp8_packed",
            .activation = "silu_and_mul_triton_sm90_once",
            .limited = "silu_and_mul_limit_triton_sm90_once",
            .recipe = "vllm-silu-packed",
            .power_of_two = "vllm-silu-packed",
            .adds_zero = kSinceAugust,
            .source = "vllm 0.22.1, 0.29.0 and 0.33.0 _silu_mul_quant_fp8_packed_kernel: outputs of an H200"},
    Between{.name = "persistent_masked_m_silu_mul_quant",
            .activation = "silu_and_mul",
            .recipe = "vllm-group-cuda",
            .power_of_two = "vllm-group-cuda-ue8m0",
            .scales_in_type = true,
            .source = "vllm 0.22.1, 0.29.0 and 0.33.0: outputs of an H200"},
    Between{.name = "humming_process_input",
            .activation = "silu_and_mul_humming",
            .type = &kF32,
            .recipe = "humming-group",
            .lane = 4,
            .source = "humming-kernels 0.1.19: outputs of an H100"},
};

std::uint32_t typed(std::uint32_t x, const Format& type) {
  if (f32::is_nan(x)) return x;
  const Conversion nearest{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0, 0, 0, false};
  return to_f32(convert(x, kF32, type, nearest), type);
}

/// 2^ceil(log2), fp32 bits of a number that is not NaN; Inf stays.
std::uint32_t power_of(std::uint32_t log2) {
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  if (log2 == kInfinity) return log2;
  return to_f32(Value{.significand = 1, .exponent = -floor_of(log2 ^ f32::kSign), .cls = ValueClass::finite, .negative = false});
}

/// A group whose quantizer's numbers are of a type all along; its elements and bounds are the recipe's.
QuantizedBlock quantized_in(const Format& type, bool power_of_two, std::span<const std::uint32_t> group, const Recipe& how) {
  constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
  const GroupRecipe& recipe = std::get<GroupRecipe>(how.how);
  std::uint32_t amax = typed(recipe.amax_floor, type);
  for (const std::uint32_t x : group) {
    if (!f32::is_nan(x)) amax = std::max(amax, x & kMagnitude);
  }
  const std::uint32_t top = to_f32(max_finite_code(*how.format->element), *how.format->element);
  std::uint32_t scale = typed(f32::mul(amax, typed(f32::div(f32::kOne, top), type)), type);
  if (power_of_two) scale = power_of(typed(f32::log2(scale), type));
  const std::uint32_t factor = typed(f32::div(f32::kOne, scale), type);
  QuantizedBlock block{scale, {}, {}};
  for (const std::uint32_t x : group)
    block.codes.push_back(convert(typed(f32::mul(x, factor), type), kF32, *how.format->element, element_conversion(how)));
  return block;
}

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

const moe::Activation& activation_of(const Between& kernel, std::uint32_t limit) {
  return activation_row(limit != 0 && !kernel.limited.empty() ? kernel.limited : kernel.activation);
}

moe::ActivationConstants constants_of(const Between& kernel, std::uint32_t limit) {
  moe::ActivationConstants constants = kernel.constants;
  if (!kernel.limited.empty()) constants.limit = limit;
  return constants;
}

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
    const QuantizedBlock block = kernel.scales_in_type ? quantized_in(*kernel.type, powers_of_two, group, how)
                                 : lost                ? requantized_by_least(group, how)
                                                       : quantize_block(group, kF32, how);
    made.codes.insert(made.codes.end(), block.codes.begin(), block.codes.end());
    made.scales.push_back(block.scale);
  }
  return made;
}

const Between& between_named(std::string_view kernel) { return rows::named(kBetween, "kernel between the products", kernel); }

}  // namespace mx::families
