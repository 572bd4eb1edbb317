#pragma once
// Rounding of upper halves of fp32 patterns with the 128-bit vectors of AArch64, for files that are compiled for them: everything here is private to
// its file.

#include <arm_neon.h>

#include "kernels/codec/rounding_plan.hpp"

namespace mx::kernels {
namespace {

[[gnu::always_inline]] inline uint16x8_t set16(uint32_t value) { return vdupq_n_u16(static_cast<uint16_t>(value)); }

/// 8 fp32 patterns to upper halves rounded to odd.
[[gnu::always_inline]] inline uint16x8_t upper_halves(uint32x4_t low, uint32x4_t high) {
  const uint16x8_t upper = vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
  const uint16x8_t lower = vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
  return vorrq_u16(upper, vshrq_n_u16(vtstq_u16(lower, lower), 15));
}

/// 4 fp32 numbers from element i on.
template <ElementSource kSource>
[[gnu::always_inline]] inline float32x4_t numbers(const void* elements, size_t i) {
  if constexpr (kSource == ElementSource::f32) {
    return vreinterpretq_f32_u32(vld1q_u32(static_cast<const uint32_t*>(elements) + i));
  } else {
    const uint16x4_t words = vld1_u16(static_cast<const uint16_t*>(elements) + i);
    if constexpr (kSource == ElementSource::fp16) return vcvt_f32_f16(vreinterpret_f16_u16(words));
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(words), 16));
  }
}

template <ElementSource kSource>
[[gnu::always_inline]] inline uint32x4_t number_bits(const void* elements, size_t i) {
  return vreinterpretq_u32_f32(numbers<kSource>(elements, i));
}

/// 8 upper halves from element i on.
template <ElementSource kSource>
[[gnu::always_inline]] inline uint16x8_t load(const void* elements, size_t i) {
  if constexpr (kSource == ElementSource::bf16) return vld1q_u16(static_cast<const uint16_t*>(elements) + i);
  return upper_halves(number_bits<kSource>(elements, i), number_bits<kSource>(elements, i + 4));
}

/// How elements are rounded, the same for every block.
struct Rounding {
  uint16x8_t largest, steps_below, addend, even, sticky, sign;
  int16x8_t mantissa_bits, sign_shift;
};

[[gnu::always_inline]] inline Rounding rounding_of(const RoundingPlan& plan) {
  return {set16(plan.largest),
          set16(plan.mantissa_bits + 1U),
          set16(plan.addend),
          set16(plan.even),
          set16(plan.sticky),
          set16(1U << (plan.width - 1)),
          vdupq_n_s16(static_cast<int16_t>(plan.mantissa_bits)),
          vdupq_n_s16(static_cast<int16_t>(plan.width - 16))};
}

/// Codes of 8 elements: rounded_code() of upper_half.hpp.
template <ZeroSigns kZeros>
[[gnu::always_inline]] inline uint16x8_t codes_of(uint16x8_t x, uint16x8_t half_unit, const Rounding& r) {
  const uint16x8_t positive = vandq_u16(x, set16(0x7FFF));
  const uint16x8_t above = vminq_u16(vqsubq_u16(vorrq_u16(positive, r.sticky), half_unit), r.largest);
  const uint16x8_t steps = vshrq_n_u16(above, 7);
  const uint16x8_t low_steps = vminq_u16(steps, r.steps_below);
  const uint16x8_t significand = vorrq_u16(vandq_u16(above, set16(0x7F)), set16(0x80));
  const uint16x8_t moved_up = vshlq_u16(significand, vreinterpretq_s16_u16(low_steps));
  const uint16x8_t odd = vandq_u16(vshrq_n_u16(moved_up, 8), r.even);
  const uint16x8_t rounded = vshrq_n_u16(vaddq_u16(vaddq_u16(moved_up, r.addend), odd), 8);
  const uint16x8_t code = vaddq_u16(rounded, vshlq_u16(vsubq_u16(steps, low_steps), r.mantissa_bits));
  if constexpr (kZeros == ZeroSigns::all_negative) x = vorrq_u16(x, vceqzq_u16(positive));
  const uint16x8_t sign = vandq_u16(vshlq_u16(x, r.sign_shift), r.sign);
  if constexpr (kZeros == ZeroSigns::kept || kZeros == ZeroSigns::all_negative) return vorrq_u16(code, sign);
  const uint16x8_t signless = vceqzq_u16(kZeros == ZeroSigns::dropped ? code : positive);
  return vorrq_u16(code, vbicq_u16(sign, signless));
}

/// 16 codes to 16 bytes.
[[gnu::always_inline]] inline uint8x16_t bytes(uint16x8_t low, uint16x8_t high) {
  return vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
}

/// 32 codes, two of 4 bits to a byte or one.
template <bool kNibbles>
[[gnu::always_inline]] inline void store_codes(uint8_t* to, const uint16x8_t* codes) {
  const uint8x16_t low = bytes(codes[0], codes[1]);
  const uint8x16_t high = bytes(codes[2], codes[3]);
  if constexpr (kNibbles) {
    vst1q_u8(to, vsliq_n_u8(vuzp1q_u8(low, high), vuzp2q_u8(low, high), 4));
  } else {
    vst1q_u8(to, low);
    vst1q_u8(to + 16, high);
  }
}

}  // namespace
}  // namespace mx::kernels
