#pragma once
// What the plans of quantizers have in common: the numbers of an element format, and which conversions the kernels' rounding is.

#include <cstdint>

#include "kernels/codec/power_plan.hpp"
#include "model/numerics/element_step.hpp"

namespace mx::kernels {

inline constexpr std::uint32_t kLowHalf = 16;
inline constexpr std::uint32_t kUpperMantissaBits = 7;
inline constexpr std::uint32_t kUpperMantissa = (1U << kUpperMantissaBits) - 1U;

inline std::uint16_t narrow(std::uint32_t value) { return static_cast<std::uint16_t>(value); }

/// The conversion is one that the kernels' integer rounding is, for finite magnitudes that are not above the largest one or saturate.
bool is_plain(const Format& element, const Conversion& how);
bool is_plain(const Format& element, const ElementStep& step);

/// Half of the smallest positive element is 2^-half_unit_offset.
std::uint32_t half_unit_offset(const Format& element);

/// The largest element's magnitude as an upper half, its exponent counted from that of half of the smallest one.
std::uint16_t largest_above_half_unit(const Format& element);

/// The kernels' word for a source format; none for others than fp32, bf16 and fp16.
const ElementSource* find_source(const Format& format);

}  // namespace mx::kernels
