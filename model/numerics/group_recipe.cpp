#include "model/numerics/group_recipe.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::array<rows::Word<GroupRule>, 3> kRules{{
    {GroupRule::group_amax, "group_amax"},
    {GroupRule::group_pow2_log2, "group_pow2_log2"},
    {GroupRule::group_pow2_bits, "group_pow2_bits"},
}};

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kMantissa = 0x007FFFFFU;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr int kMantissaBits = kF32.mantissa_bits;

/// The exponent field rounded up where the mantissa is not 0; Inf and NaN become 2^127. Source: DeepGEMM ceil_to_ue8m0.
std::uint32_t next_power_by_bits(std::uint32_t s) {
  const std::uint32_t up = (s & kMantissa) != 0 && !planted(Fault::group_power_rounds_down) ? 1U : 0U;
  return std::clamp((s >> kMantissaBits) + up, 1U, 254U) << kMantissaBits;
}

/// Source: vLLM _per_token_group_quant_fp8, use_ue8m0.
std::uint32_t next_power_by_log2(std::uint32_t s) {
  if (s == 0 || s >= kInfinity) return s;
  const std::uint32_t log2 = f32::log2(s);
  const int exponent = planted(Fault::group_power_rounds_down) ? floor_of(log2) : -floor_of(log2 ^ f32::kSign);
  return to_f32(Value{.significand = 1, .exponent = exponent, .cls = ValueClass::finite, .negative = false});
}

}  // namespace

std::string_view name_of(GroupRule rule) { return rows::word_of<GroupRule>(kRules, rule); }

std::uint32_t group_scale(std::uint32_t amax_f32, const Format& element, const GroupRecipe& how) {
  std::uint32_t amax = amax_f32 & kMagnitude;
  if (amax > kInfinity) amax = how.amax_nan == AmaxNan::propagates ? f32::kNan : 0;
  if (amax <= kInfinity && !planted(Fault::group_forgets_floor)) amax = std::max(amax, how.amax_floor);
  const std::uint32_t top = to_f32(max_finite_code(element), element);
  std::uint32_t s = how.divides ? f32::div(amax, top) : f32::mul(amax, f32::div(f32::kOne, top));
  if (f32::less(s, how.least_scale)) s = how.least_scale;
  switch (how.rule) {
    case GroupRule::group_amax: return s;
    case GroupRule::group_pow2_log2: return next_power_by_log2(s);
    case GroupRule::group_pow2_bits: break;
  }
  if (planted(Fault::group_power_by_logarithm)) return next_power_by_log2(s);
  return next_power_by_bits(s);
}

namespace {

ElementStep step_of(const GroupRecipe& how) {
  ElementStep step = how.step;
  if (planted(Fault::group_divides_otherwise)) {
    step.operation = step.operation == ElementOperation::divide ? ElementOperation::multiply : ElementOperation::divide;
  }
  return step;
}

}  // namespace

BlockScaling block_scaling(std::uint32_t amax_f32, const Format& /*source*/, const BlockFormat& format, const GroupRecipe& how) {
  const std::uint32_t s = group_scale(amax_f32, *format.element, how);
  const std::uint32_t scale = how.scale_in_fp16 ? held_in(kFp16, s) : s;
  return {scale, step_of(how).operation != ElementOperation::multiply ? s : f32::div(f32::kOne, s)};
}

QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const GroupRecipe& how,
                        const TensorScale& tensor) {
  require_no_tensor_scale(tensor, format.name);
  const std::vector<std::uint32_t> f32 = widened(x, source, how.sources, format.name);
  QuantizedBlock block;
  const BlockScaling scaling = block_scaling(largest_magnitude(f32, how.amax_nan), source, format, how);
  block.scale = scaling.scale;
  const ElementStep step = step_of(how);
  block.codes.reserve(f32.size());
  block.flags.resize(f32.size());
  for (std::size_t i = 0; i < f32.size(); ++i) {
    block.codes.push_back(encode_element(f32[i], scaling.factor, *format.element, step, source, block.flags[i]));
  }
  return block;
}

}  // namespace mx
