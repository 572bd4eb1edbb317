#include "kernels/codec/element_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mx::kernels {
namespace {

constexpr std::uint32_t kF32Bias = 127;

constexpr std::array kSources{std::pair{&kF32, ElementSource::f32}, std::pair{&kBf16, ElementSource::bf16}, std::pair{&kFp16, ElementSource::fp16}};

}  // namespace

bool is_plain(const Format& element, const Conversion& how) {
  const bool nearest = how.rounding == Rounding::nearest_even || how.rounding == Rounding::nearest_toward_zero;
  return nearest && how.flush == Flush::none && element.encoding == Encoding::floating && element.has_sign &&
         element.specials != Specials::nan_negative_zero && element.mantissa_bits <= 5 && element.width <= 8;
}

bool is_plain(const Format& element, const ElementStep& step) {
  return is_plain(element, step.encode) && step.zero_sign != ZeroSign::lost_before_rounding && !step.half_is_added && !step.unit_by_log2;
}

std::uint32_t half_unit_offset(const Format& element) { return static_cast<std::uint32_t>(element.bias + element.mantissa_bits); }

std::uint16_t largest_above_half_unit(const Format& element) {
  return narrow((to_f32(max_finite_code(element), element) >> kLowHalf) - ((kF32Bias - half_unit_offset(element)) << kUpperMantissaBits));
}

const ElementSource* find_source(const Format& format) {
  const auto row = std::ranges::find_if(kSources, [&](const auto& source) { return *source.first == format; });
  return row == kSources.end() ? nullptr : &row->second;
}

}  // namespace mx::kernels
