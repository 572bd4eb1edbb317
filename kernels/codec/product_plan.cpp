// Which dequantizers are one fp32 product per element, and their numbers for the kernels.

#include <algorithm>

#include "kernels/codec/dequantize_job.hpp"
#include "model/fault.hpp"
#include "model/numerics/convert.hpp"

namespace mx::kernels {
namespace {

constexpr std::uint32_t kLowHalf = 16;
constexpr std::uint32_t kF32Infinity = 0x7F800000U;
constexpr std::uint32_t kBf16Nan = 0x7FC0U;
constexpr std::uint32_t kOne = 0x3F800000U;
constexpr std::uint32_t kScaleCodes = 256;

/// The scale alone, as the dequantizer's own steps make fp32 numbers of it, with neither the target's rounding nor its range.
Dequantizer of_scale(const Dequantizer& how) {
  Dequantizer out = how;
  out.target = &kF32;
  out.range = ProductRange::infinite;
  return out;
}

/// The code of 1, which every element format has.
std::uint32_t code_of_one(const Format& element) {
  std::uint32_t code = 0;
  while (to_f32(code, element) != kOne) ++code;
  return code;
}

/// One fp32 product, rounded into the target once more, gives what the dequantizer's steps do. Significands of codes have at most 8 bits: times a
/// power of two they are exact in fp32, so that an exact product and one that is rounded to the target are the same; any other scale needs fp32
/// steps.
bool is_one_product(const Dequantizer& how) {
  const bool exact = *how.format->scale == kE8m0 && how.tensor == TensorUse::none;
  if (how.arithmetic == nullptr || *how.arithmetic == *how.target) return exact || (how.arithmetic != nullptr && *how.target == kF32);
  return *how.arithmetic == kF32;
}

}  // namespace

std::optional<ProductPlan> product_plan(const Dequantizer& how) {
  const BlockFormat& format = *how.format;
  const Format& element = *format.element;
  const bool plain_scale = how.reading == ScaleReading::value && how.tensor == TensorUse::none;
  if (!is_one_product(how) || format.block_rows != 1 || (*format.scale == kF32 && !plain_scale)) return std::nullopt;
  ProductPlan plan{};
  const std::uint32_t codes = 1U << element.width;
  for (std::uint32_t code = 0; code < 256; ++code) {
    const bool drops = how.drops_zero_sign && decode(element, code % codes).cls == ValueClass::zero;
    plan.values[code] = static_cast<std::uint16_t>(drops                                ? 0U
                                                   : is_nan_code(element, code % codes) ? kBf16Nan
                                                                                        : to_f32(code % codes, element) >> kLowHalf);
  }
  plan.target = *how.target == kF32 ? ElementTarget::f32 : *how.target == kBf16 ? ElementTarget::bf16 : ElementTarget::fp16;
  plan.width = static_cast<std::uint32_t>(element.width);
  plan.clamps = how.range != ProductRange::infinite && !fault::planted(fault::Fault::kernel_never_clamps) ? 1 : 0;
  plan.largest = max_finite_code(*how.target);
  const std::uint32_t quiet_nan = (plan.largest + 1U) | 1U << (how.target->mantissa_bits - 1);
  plan.nan = how.range == ProductRange::clamped_with_nan ? plan.largest : quiet_nan;
  return plan;
}

ScaleFactors::ScaleFactors(const Dequantizer& how, const TensorScale& tensor)
    : has_infinity_(has_inf(*how.format->element)), is_f32_(*how.format->scale == kF32) {
  if (is_f32_) return;
  const Dequantizer scale_only = of_scale(how);
  const std::uint32_t one = code_of_one(*how.format->element);
  for (std::uint32_t code = 0; code < kScaleCodes; ++code) {
    const std::uint32_t factor = mx::dequantize(one, code, scale_only, tensor);
    is_irregular_[code] = is_regular(factor) ? 0 : 1;
    factors_[code] = is_regular(factor) ? factor : 0;
  }
}

bool ScaleFactors::is_regular(std::uint32_t factor) const {
  const std::uint32_t magnitude = factor & 0x7FFFFFFFU;
  return magnitude < kF32Infinity && (magnitude != 0 || !has_infinity_);
}

std::optional<std::uint32_t> ScaleFactors::of(std::uint32_t scale) const {
  if (is_f32_) return is_regular(scale) ? std::optional(scale) : std::nullopt;
  return is_irregular_[scale] == 0 ? std::optional(factors_[scale]) : std::nullopt;
}

void ScaleFactors::look_up(std::span<const std::uint8_t> scales, std::uint32_t* factors, std::uint64_t* irregular) const {
  unsigned any = 0;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    factors[i] = factors_[scales[i]];
    any |= is_irregular_[scales[i]];
  }
  for (std::size_t i = 0; any != 0 && i < scales.size(); ++i) irregular[i / 64] |= std::uint64_t{is_irregular_[scales[i]]} << (i % 64);
}

}  // namespace mx::kernels
