// Which dequantizers only move exponents, and their numbers for the kernels.

#include "kernels/codec/plans.hpp"
#include "model/fault.hpp"
#include "model/numerics/convert.hpp"

namespace mx::kernels {
namespace {

constexpr int kF32Bias = 127;
constexpr std::uint32_t kLowHalf = 16;
constexpr std::uint32_t kUnit = 127;  // the scale byte of 1
constexpr int kLargestExponentField = 254;

/// Exponents, as powers of two, of the smallest positive and of the largest magnitude.
struct Exponents {
  int smallest;
  int largest;
};

Exponents exponents_of(const Format& element) {
  if (element.encoding == Encoding::fixed_point) return {-element.mantissa_bits, element.width - 1 - element.mantissa_bits};
  return {1 - element.bias - element.mantissa_bits, max_exponent(element)};
}

}  // namespace

std::optional<UnpackPlan> unpack_plan(const Dequantizer& how) {
  const BlockFormat& format = *how.format;
  const Format& element = *format.element;
  const bool known_target = *how.target == kF32 || *how.target == kBf16;
  // Where a NaN becomes a number, that number would be moved with the scale.
  const bool nan_is_number = how.range == ProductRange::clamped_with_nan && has_nan(element);
  const bool inf_is_number = how.range != ProductRange::infinite && has_inf(element);
  if (!known_target || nan_is_number || inf_is_number || how.tensor != TensorUse::none || *format.scale != kE8m0 || format.block != 32) {
    return std::nullopt;
  }
  if (how.arithmetic != nullptr && *how.arithmetic != kF32 && *how.arithmetic != kBf16) return std::nullopt;
  UnpackPlan plan{};
  const std::uint32_t codes = 1U << element.width;
  const std::uint32_t low = *how.target == kF32 ? kLowHalf : 0U;
  for (std::uint32_t code = 0; code < 256; ++code) {
    plan.values[code] = code < codes ? static_cast<std::uint16_t>(dequantize(code, kUnit, how) >> low) : plan.values[code % codes];
  }
  const Exponents exponents = exponents_of(element);
  plan.target = *how.target == kF32 ? ElementTarget::f32 : ElementTarget::bf16;
  plan.width = static_cast<std::uint32_t>(element.width);
  plan.block = static_cast<std::uint32_t>(format.block);
  plan.scale_from = static_cast<std::uint32_t>(1 - exponents.smallest);
  const int last = kLargestExponentField - exponents.largest + (fault::planted(fault::Fault::kernel_scales_end_late) ? 1 : 0);
  plan.scale_span = static_cast<std::uint32_t>(last) - plan.scale_from;
  static_assert(kF32Bias == static_cast<int>(kUnit), "an E8M0 byte and an exponent field have the same bias");
  return plan;
}

}  // namespace mx::kernels
