#include "model/numerics/nvfp4_recipe.hpp"

#include <array>
#include <string>
#include <vector>

#include "model/fault.hpp"
#include "model/numerics/element_step.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::array<rows::Word<Nvfp4Scale>, 6> kScaleRules{{
    {Nvfp4Scale::global, "nvfp4"},
    {Nvfp4Scale::per_tensor, "nvfp4 per tensor"},
    {Nvfp4Scale::single, "nvfp4_single"},
    {Nvfp4Scale::direct, "nvfp4_direct"},
    {Nvfp4Scale::quotient, "nvfp4 quotient"},
    {Nvfp4Scale::six_decodes, "nvfp4 six decodes"},
}};

constexpr std::uint32_t kSmallestNormal = 0x00800000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kSix = 0x40C00000U;
constexpr std::uint32_t kSixth = 0x3E2AAAABU;  // RN(1/6)

bool is_zero(std::uint32_t f32) { return (f32 & ~f32::kSign) == 0; }

std::uint32_t without_subnormals(std::uint32_t f32) { return (f32 & ~f32::kSign) < kSmallestNormal ? f32 & f32::kSign : f32; }

/// fp32 steps as the recipe's build computes them.
class Steps {
 public:
  Steps(const Nvfp4Recipe& how, const Format& source) : flush_(how.flush_subnormals), held_(how.in_source_type ? source : kF32) {}
  /// What a variable of the source's type makes of a number, where the recipe has such variables.
  std::uint32_t held(std::uint32_t a) const { return held_in(held_, a); }
  std::uint32_t operand(std::uint32_t a) const { return flush_ ? without_subnormals(a) : a; }
  std::uint32_t mul(std::uint32_t a, std::uint32_t b) const { return operand(f32::mul(operand(a), operand(b))); }
  std::uint32_t div(std::uint32_t a, std::uint32_t b) const { return operand(f32::div(operand(a), operand(b))); }

 private:
  bool flush_;
  const Format& held_;
};

void require_scale(std::uint32_t f32, std::string_view name) {
  if (f32 != 0 && f32 < kInfinity) return;
  throw Error(ErrorCode::usage,
              "the " + std::string(name) + " scale of an nvfp4 tensor has the fp32 bits " + f32::text(f32) + ", which are no positive finite number");
}

void check_tensor_scale(const Nvfp4Recipe& how, const TensorScale& tensor) {
  const bool global = how.rule == Nvfp4Scale::global;
  const bool takes_encode = global || how.rule == Nvfp4Scale::quotient;
  const bool takes_decode = global || how.rule == Nvfp4Scale::per_tensor || how.rule == Nvfp4Scale::six_decodes;
  const TensorNeeds needs = tensor_needs(how);
  const auto refuse = [&](const std::string& why) { throw Error(ErrorCode::usage, "scale rule '" + std::string(name_of(how.rule)) + "' " + why); };
  if (tensor.encode && !takes_encode) refuse("takes no encode scale of the tensor");
  if (tensor.decode && !takes_decode) refuse("takes no decode scale of the tensor");
  if (tensor.amax_bound) refuse("takes no bound on amax");
  if (needs.encode && !tensor.encode) refuse("needs the encode scale of the tensor");
  if (needs.decode && !tensor.decode) {
    const std::string why = global ? ": the device's approximate reciprocal of the encode scale" : "";
    refuse("needs the decode scale of the tensor" + why);
  }
  if (tensor.encode) require_scale(*tensor.encode, "encode");
  if (tensor.decode) require_scale(*tensor.decode, "decode");
}

/// Starts from NaN where NaNs are ignored, so that a block of nothing else keeps one.
std::uint32_t largest_magnitude(std::span<const std::uint32_t> f32, bool ignores_nan) {
  std::uint32_t amax = f32.front() & ~f32::kSign;
  for (std::uint32_t bits : f32.subspan(1)) {
    const std::uint32_t magnitude = bits & ~f32::kSign;
    if (ignores_nan && f32::is_nan(amax)) {
      amax = magnitude;
    } else if (!(ignores_nan && f32::is_nan(magnitude))) {
      amax = f32::max(amax, magnitude);
    }
  }
  return amax;
}

/// amax / 6.
std::uint32_t sixth_of(std::uint32_t amax, const Nvfp4Recipe& how, const Steps& steps) {
  const std::uint32_t sixth = steps.div(amax, kSix);
  return f32::less(sixth, how.least_sixth) ? how.least_sixth : sixth;
}

/// The fp32 number that becomes the scale code.
std::uint32_t wanted_scale(std::uint32_t amax, const Nvfp4Recipe& how, const TensorScale& tensor, const Steps& steps) {
  std::uint32_t wanted = 0;
  switch (how.rule) {
    case Nvfp4Scale::global: {
      const std::uint32_t sixth = steps.mul(amax, kSixth);
      wanted = planted(Fault::nvfp4_ignores_global_scale) ? sixth : steps.mul(*tensor.encode, sixth);
      break;
    }
    case Nvfp4Scale::per_tensor: wanted = steps.div(sixth_of(amax, how, steps), *tensor.decode); break;
    case Nvfp4Scale::single:
    case Nvfp4Scale::direct: wanted = steps.div(amax, kSix); break;
    case Nvfp4Scale::quotient: wanted = steps.mul(steps.held(steps.div(amax, kSix)), tensor.encode.value_or(f32::kOne)); break;
    case Nvfp4Scale::six_decodes: wanted = steps.div(amax, steps.mul(kSix, *tensor.decode)); break;
  }
  if (wanted == 0) wanted = how.zero_wanted;
  return f32::less(wanted, how.least_scale) ? how.least_scale : wanted;
}

/// 1/g: as the device holds it where that is given.
std::uint32_t reciprocal_of_global(const TensorScale& tensor, const Steps& steps) {
  return tensor.decode ? *tensor.decode : steps.div(f32::kOne, *tensor.encode);
}

std::uint32_t reciprocal(std::uint32_t divisor, const Nvfp4Recipe& how, const Steps& steps) {
  if (how.approximate_reciprocal) divisor = without_subnormals(divisor);
  if (is_zero(divisor)) return how.multiplier_of_zero;
  const std::uint32_t result = steps.div(f32::kOne, divisor);
  return how.approximate_reciprocal ? without_subnormals(result) : result;
}

/// What the elements are multiplied by, from the scale code's value.
std::uint32_t multiplier(std::uint32_t scale, const Nvfp4Recipe& how, const TensorScale& tensor, const Steps& steps) {
  std::uint32_t result = 0;
  switch (how.multiplier) {
    case Nvfp4Multiplier::reciprocal_of_product: {
      const std::uint32_t factor = reciprocal_of_global(tensor, steps);
      std::uint32_t product = steps.mul(scale, factor);
      if (planted(Fault::nvfp4_reciprocal_twice)) product = steps.mul(product, factor);
      result = reciprocal(product, how, steps);
      break;
    }
    case Nvfp4Multiplier::reciprocal_over_scale:
      result = is_zero(scale) ? how.multiplier_of_zero : steps.div(steps.div(f32::kOne, *tensor.decode), scale);
      break;
    case Nvfp4Multiplier::reciprocal_of_scale: result = reciprocal(scale, how, steps); break;
    case Nvfp4Multiplier::divided_by_quotient: return steps.div(scale, tensor.encode.value_or(f32::kOne));
    case Nvfp4Multiplier::divided_by_product: return steps.mul(scale, *tensor.decode);
    case Nvfp4Multiplier::scaled_then_divided:
    case Nvfp4Multiplier::divided_then_scaled:
    case Nvfp4Multiplier::divided_by_wanted: return scale;
  }
  return f32::less(how.largest_multiplier, result) ? how.largest_multiplier : result;
}

/// The element before it is encoded; `factor` is what `multiplier` gives.
std::uint32_t scaled_element(std::uint32_t f32, std::uint32_t factor, const Nvfp4Recipe& how, const TensorScale& tensor, const Steps& steps) {
  const std::uint32_t g = tensor.encode.value_or(f32::kOne);
  switch (how.multiplier) {
    case Nvfp4Multiplier::divided_by_quotient:
    case Nvfp4Multiplier::divided_by_product:
    case Nvfp4Multiplier::divided_by_wanted: return steps.div(f32, factor);
    case Nvfp4Multiplier::scaled_then_divided: return steps.div(steps.mul(f32, g), factor);
    case Nvfp4Multiplier::divided_then_scaled: return steps.mul(steps.held(steps.div(f32, factor)), g);
    default: break;
  }
  return steps.mul(f32, factor);
}

std::uint32_t element_code(std::uint32_t f32, std::uint32_t factor, const Nvfp4Recipe& how, const TensorScale& tensor, const Steps& steps,
                           Flags& flags) {
  std::uint32_t scaled = scaled_element(f32, factor, how, tensor, steps);
  if (how.drops_zero_sign && is_zero(scaled)) scaled = 0;
  return convert(scaled, kF32, kE2m1, how.element, flags);
}

BlockScaling checked_scaling(std::uint32_t amax, const Steps& steps, const BlockFormat& format, const Nvfp4Recipe& how, const TensorScale& tensor) {
  Conversion to_scale = how.scale;
  if (planted(Fault::nvfp4_scale_overflows)) to_scale.overflow = Overflow::nan;
  std::uint32_t scale = convert(wanted_scale(amax, how, tensor, steps), kF32, *format.scale, to_scale);
  if (scale == 0) scale = how.zero_scale_code;
  const std::uint32_t value = to_f32(scale, *format.scale);
  const bool is_replaced = how.zero_scale_value != 0 && !f32::less(0, value);
  std::uint32_t factor = multiplier(is_replaced ? how.zero_scale_value : value, how, tensor, steps);
  if (how.multiplier == Nvfp4Multiplier::divided_by_wanted) factor = sixth_of(amax, how, steps);
  if (planted(Fault::nvfp4_multiplier_inverted)) factor = f32::div(f32::kOne, factor);
  if (how.zero_block_multiplies_by_zero && is_zero(steps.operand(amax))) factor = 0;
  return {scale, factor};
}

}  // namespace

std::string_view name_of(Nvfp4Scale rule) { return rows::word_of<Nvfp4Scale>(kScaleRules, rule); }

TensorNeeds tensor_needs(const Nvfp4Recipe& how) {
  const bool takes_encode = how.rule == Nvfp4Scale::global || how.rule == Nvfp4Scale::quotient;
  const bool takes_decode = how.rule == Nvfp4Scale::per_tensor || how.rule == Nvfp4Scale::six_decodes;
  return {takes_encode && !how.encode_may_be_missing, takes_decode || how.approximate_reciprocal};
}

BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const BlockFormat& format, const Nvfp4Recipe& how,
                           const TensorScale& tensor) {
  check_tensor_scale(how, tensor);
  return checked_scaling(amax_f32, Steps(how, source), format, how, tensor);
}

QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const Nvfp4Recipe& how,
                        const TensorScale& tensor) {
  check_tensor_scale(how, tensor);
  const Steps steps(how, source);
  const std::vector<std::uint32_t> f32 = widened(x, source, how.sources, format.name);
  const BlockScaling scaling = checked_scaling(largest_magnitude(f32, how.amax_ignores_nan), steps, format, how, tensor);
  QuantizedBlock block;
  block.scale = scaling.scale;
  block.codes.reserve(f32.size());
  block.flags.resize(f32.size());
  for (std::size_t i = 0; i < f32.size(); ++i) block.codes.push_back(element_code(f32[i], scaling.factor, how, tensor, steps, block.flags[i]));
  return block;
}

}  // namespace mx
