// Which NVFP4 recipes the kernels know, and their numbers.

#include <bit>
#include <limits>
#include <vector>

#include "kernels/codec/element_plan.hpp"
#include "kernels/codec/plans.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kSmallestNormal = 0x00800000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr float kLargestE4m3 = 448.0F;

bool is_normal(std::uint32_t f32) { return f32 >= kSmallestNormal && f32 < kInfinity; }

bool is_nearest_even(const Conversion& how) {
  return how.rounding == Rounding::nearest_even && how.flush == Flush::none && how.before == Preparation{} && !changes_codes(how.fine);
}

/// One product with the block's multiplier, and scales as they are rounded.
bool multiplies_once(const Nvfp4Recipe& how) {
  const bool one_product = how.multiplier == Nvfp4Multiplier::reciprocal_of_product || how.multiplier == Nvfp4Multiplier::reciprocal_over_scale ||
                           how.multiplier == Nvfp4Multiplier::reciprocal_of_scale;
  const bool plain_scale = how.rule != Nvfp4Scale::quotient && how.rule != Nvfp4Scale::six_decodes;
  return one_product && plain_scale && !how.in_source_type && how.zero_wanted == 0 && how.zero_scale_code == 0 && how.zero_scale_value == 0;
}

/// The tensor's number that the rule takes, and its reciprocal as the implementation holds it. 1 and 1 for a rule that takes none.
struct TensorFactor {
  std::uint32_t value;
  std::uint32_t reciprocal;
};

std::optional<TensorFactor> tensor_factor(const Nvfp4Recipe& how, const TensorScale& tensor) {
  if (how.rule == Nvfp4Scale::single || how.rule == Nvfp4Scale::direct) return TensorFactor{f32::kOne, f32::kOne};
  const auto value = how.rule == Nvfp4Scale::global ? tensor.encode : tensor.decode;
  if (!value) return std::nullopt;
  const bool held = how.rule == Nvfp4Scale::global && tensor.decode;
  return TensorFactor{*value, held ? *tensor.decode : f32::div(f32::kOne, *value)};
}

/// As look_at_zeros of power_plan.cpp.
void look_at_zeros(const Recipe& recipe, const Format& source, const TensorScale& tensor, Nvfp4Plan& plan) {
  const std::uint32_t sign = 1U << (source.width - 1);
  std::vector<std::uint32_t> zeros(kNvfp4Block);
  for (std::size_t i = 1; i < zeros.size(); i += 2) zeros[i] = sign;
  const QuantizedBlock block = quantize_block(zeros, source, recipe, tensor);
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    if (block.codes[i] != (zeros[i] != 0 && plan.keeps_zero_sign != 0 ? 8U : 0U)) return;
  }
  plan.zero_is_regular = 1;
  plan.zero_scale = block.scale;
}

}  // namespace

std::optional<Nvfp4Plan> nvfp4_plan(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  const auto* how = std::get_if<Nvfp4Recipe>(&recipe.how);
  const ElementSource* const from = find_source(source);
  if (how == nullptr || from == nullptr || !takes_source(recipe, source) || recipe.format->block != static_cast<int>(kNvfp4Block))
    return std::nullopt;
  const bool plain =
      multiplies_once(*how) && is_nearest_even(how->scale) && is_nearest_even(how->element) && how->element.overflow == Overflow::saturate;
  const auto factor = tensor_factor(*how, tensor);
  // 1/g enters only where the multiplier is made of it.
  if (!plain || !factor || !is_normal(factor->value) || !is_normal(factor->reciprocal)) return std::nullopt;
  Nvfp4Plan plan{};
  plan.source = *from;
  plan.divides_by_six = how->rule == Nvfp4Scale::global ? 0 : 1;
  plan.factor = std::bit_cast<float>(factor->value);
  const bool takes_reciprocal = how->multiplier != Nvfp4Multiplier::reciprocal_of_scale;
  plan.reciprocal = takes_reciprocal ? std::bit_cast<float>(factor->reciprocal) : 1.0F;
  plan.divides_by_scale = how->multiplier == Nvfp4Multiplier::reciprocal_over_scale ? 1 : 0;
  plan.least_wanted = std::bit_cast<float>(how->least_scale);
  plan.largest_wanted = how->scale.overflow == Overflow::saturate ? std::numeric_limits<float>::max() : kLargestE4m3;
  plan.keeps_zero_sign = how->drops_zero_sign ? 0 : 1;
  look_at_zeros(recipe, source, tensor, plan);
  return plan;
}

}  // namespace mx::kernels
