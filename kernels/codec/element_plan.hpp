#pragma once
// What the plans of quantizers have in common: the numbers of an element format, and which conversions the kernels' rounding is.

#include <cstdint>
#include <optional>

#include "kernels/codec/rounding_plan.hpp"
#include "model/numerics/element_step.hpp"

namespace mx::kernels {

inline constexpr std::uint32_t kLowHalf = 16;
inline constexpr std::uint32_t kUpperMantissaBits = 7;
inline constexpr std::uint32_t kUpperMantissa = (1U << kUpperMantissaBits) - 1U;

inline std::uint16_t narrow(std::uint32_t value) { return static_cast<std::uint16_t>(value); }

/// The plan of a conversion of finite magnitudes that are not above the largest one or saturate; none when the kernels' rounding is not that one. Of
/// a format that counts units only what says how ties go.
std::optional<RoundingPlan> rounding_plan(const Format& element, const Conversion& how, ZeroSign zeros);

/// A code is a two's complement number of 8 bits that counts units.
bool counts_units(const Format& element);

/// Half of the smallest positive element is 2^-half_unit_offset.
std::uint32_t half_unit_offset(const Format& element);

/// The kernels' word for a source format; none for others than fp32, bf16 and fp16.
const ElementSource* find_source(const Format& format);

}  // namespace mx::kernels
