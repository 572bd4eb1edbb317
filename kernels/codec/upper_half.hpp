#pragma once
// The upper 16 bits of fp32 patterns, on which the kernels round: the plain-integer steps.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/codec/power_plan.hpp"

namespace mx::kernels {

/// fp16 bits as fp32 bits; a NaN stays one.
inline std::uint32_t widened_fp16(std::uint32_t fp16) {
  const std::uint32_t sign = (fp16 & 0x8000U) << 16;
  const std::uint32_t magnitude = fp16 & 0x7FFFU;
  if (magnitude >= 0x7C00U) return sign | 0x7F800000U | (magnitude & 0x3FFU) << 13;
  if (magnitude >= 0x0400U) return sign | (magnitude + (112U << 10)) << 13;
  // A subnormal is a whole number of units of 2^-24, which fp32 holds as a normal number.
  return sign | std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
}

/// fp32 bits of element i.
template <ElementSource kSource>
std::uint32_t f32_at(const void* elements, std::size_t i) {
  if constexpr (kSource == ElementSource::f32) return static_cast<const std::uint32_t*>(elements)[i];
  const std::uint32_t word = static_cast<const std::uint16_t*>(elements)[i];
  return kSource == ElementSource::bf16 ? word << 16 : widened_fp16(word);
}

/// Upper half, rounded to odd.
inline std::uint32_t upper_half(std::uint32_t f32) { return f32 >> 16 | ((f32 & 0xFFFFU) != 0 ? 1U : 0U); }

/// Code of an upper half, given that of half of the smallest positive element. The significand of 8 bits is shifted left by its steps above that, at
/// most so many that mantissa_bits and the leading one come to stand above bit 8, where it is rounded; a carry runs into the exponent.
inline std::uint32_t rounded_code(std::uint32_t x, std::uint32_t half_unit, const RoundingPlan& how) {
  const std::uint32_t magnitude = (x & 0x7FFFU) | how.sticky;
  const std::uint32_t distance = magnitude > half_unit ? magnitude - half_unit : 0U;
  const std::uint32_t above = std::min<std::uint32_t>(distance, how.largest);
  const std::uint32_t steps = above >> 7;
  const std::uint32_t low_steps = std::min(steps, how.mantissa_bits + 1U);
  const std::uint32_t moved_up = ((above & 0x7FU) | 0x80U) << low_steps;
  const std::uint32_t odd = moved_up >> 8 & how.even;
  const std::uint32_t code = ((moved_up + how.addend + odd) >> 8) + ((steps - low_steps) << how.mantissa_bits);
  const std::uint32_t signs = (x & 0x8000U) >> (16U - how.width);
  if (how.zeros == ZeroSigns::all_negative && (x & 0x7FFFU) == 0) return 1U << (how.width - 1U);
  const bool keeps_zeros = how.zeros == ZeroSigns::kept || how.zeros == ZeroSigns::all_negative;
  const bool keeps = code != 0 || keeps_zeros || (how.zeros == ZeroSigns::kept_if_rounded && (x & 0x7FFFU) != 0);
  return keeps ? code | signs : code;
}

}  // namespace mx::kernels
