#pragma once
// Loops without branches that compare as signed integers (magnitudes are below 2^31), so that compilers make vectors of them. Each file of an
// instruction set has its own: nothing here has a linkage that another one could pick up.

#include <stddef.h>
#include <stdint.h>

#include "kernels/sweep/encode_numbers.hpp"

namespace mx::kernels::sweep {
namespace {

constexpr uint32_t kSign = 0x80000000U;
constexpr uint32_t kF32Infinity = 0x7F800000U;

/// All bits set where a > b.
inline uint32_t mask_above(uint32_t a, uint32_t b) { return static_cast<int32_t>(a) > static_cast<int32_t>(b) ? 0xFFFFFFFFU : 0U; }

/// `yes` where the mask is set, else `no`.
inline uint32_t select(uint32_t mask, uint32_t yes, uint32_t no) { return no ^ ((yes ^ no) & mask); }

inline uint32_t select(uint32_t negative, const BySign& by_sign) { return select(negative, by_sign.of[1], by_sign.of[0]); }

/// All bits set where the sign is.
inline uint32_t mask_negative(uint32_t f32) { return static_cast<uint32_t>(static_cast<int32_t>(f32) >> 31); }

/// The code, or another one where the source overflows or is no number.
inline uint32_t with_specials(uint32_t code, uint32_t source, uint32_t magnitude, const SpecialCodes& special) {
  const uint32_t negative = mask_negative(source);
  const uint32_t infinite = mask_above(magnitude, kF32Infinity - 1U);
  const uint32_t overflow = select(infinite, select(negative, special.infinity), select(negative, special.overflow));
  const uint32_t payload = (source >> special.payload_shift) & special.payload_mask;
  const uint32_t nan = select(negative, special.nan) | payload | (mask_above(1U, payload) & special.empty_payload);
  code = select(mask_above(magnitude, select(negative, special.last_in_range)), overflow, code);
  return select(mask_above(magnitude, kF32Infinity), nan, code);
}

/// A magnitude below `min_normal` in units of 2^-kFinePlaces of the subnormal grid; the last place is set where anything was lost.
/// Flushing of subnormals cannot disturb it: what would be flushed is raised to the smallest normal number, as far below the grid.
inline uint32_t in_fine_units(uint32_t magnitude, uint32_t min_normal, float scale) {
  const uint32_t low = select(mask_above(magnitude, min_normal), min_normal, magnitude);
  const uint32_t tiny = mask_above(kF32MinNormal, low) & mask_above(low, 0U);
  const float scaled = __builtin_bit_cast(float, select(tiny, kF32MinNormal, low)) * scale;
  const auto whole = static_cast<int32_t>(scaled);
  const uint32_t lost = __builtin_bit_cast(uint32_t, static_cast<float>(whole)) ^ __builtin_bit_cast(uint32_t, scaled);
  return static_cast<uint32_t>(whole) | (mask_above(lost, 0U) & 1U);
}

template <bool kTwosComplement>
void floating(const uint32_t* f32, size_t count, const FloatingPlan plan, uint32_t* codes) {
  const float scale = __builtin_bit_cast(float, plan.scale);
  // A zero code loses its sign in formats with one zero.
  const uint32_t signed_above = plan.one_zero ? 0U : 0xFFFFFFFFU;
  const uint32_t refuses_sign = plan.negative_is_nan ? 0xFFFFFFFFU : 0U;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t source = f32[i];
    const uint32_t negative = mask_negative(source);
    uint32_t magnitude = source & ~kSign;
    magnitude &= ~mask_above(plan.special.source_from, magnitude);
    const uint32_t odd = (magnitude >> plan.shift) & plan.even;
    const uint32_t normal = ((magnitude + select(negative, plan.addend) + odd) >> plan.shift) - plan.rebias;
    const uint32_t fine = in_fine_units(magnitude, plan.min_normal, scale);
    const uint32_t fine_odd = (fine >> kFinePlaces) & plan.even;
    const uint32_t subnormal = (fine + select(negative, plan.fine_addend) + fine_odd) >> kFinePlaces;
    uint32_t code = select(mask_above(plan.min_normal, magnitude), subnormal, normal);
    code &= ~mask_above(plan.result_from, code);
    if constexpr (kTwosComplement) {
      code = ((code ^ negative) - negative) & plan.code_mask;
    } else {
      code |= plan.sign_bit & negative & mask_above(code, signed_above);
    }
    code = select(negative & refuses_sign & mask_above(magnitude, 0U), plan.negative_code, code);
    codes[i] = with_specials(code, source, magnitude, plan.special);
  }
}

void powers(const uint32_t* f32, size_t count, const PowerPlan plan, uint32_t* codes) {
  const uint32_t refuses_sign = plan.negative_is_nan ? 0xFFFFFFFFU : 0U;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t source = f32[i];
    const uint32_t negative = mask_negative(source);
    uint32_t magnitude = source & ~kSign;
    magnitude &= ~mask_above(plan.special.source_from, magnitude);
    const uint32_t normal = (magnitude + select(negative, plan.addend)) >> kF32MantissaBits;
    const uint32_t subnormal = mask_above(magnitude, select(negative, plan.subnormal_from) - 1U) & 1U;
    uint32_t code = select(mask_above(kF32MinNormal, magnitude), subnormal, normal);
    code = with_specials(code, source, magnitude, plan.special);
    const uint32_t number = mask_above(kF32Infinity + 1U, magnitude);
    code = select(negative & refuses_sign & number, plan.negative_code, code);
    codes[i] = select(mask_above(1U, magnitude), plan.zero_code, code);
  }
}

inline uint64_t mix64(uint64_t i) {
  uint64_t z = i + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

void encode_floating(const uint32_t* f32, size_t count, const FloatingPlan& plan, uint32_t* codes) {
  plan.twos_complement ? floating<true>(f32, count, plan, codes) : floating<false>(f32, count, plan, codes);
}
void encode_powers(const uint32_t* f32, size_t count, const PowerPlan& plan, uint32_t* codes) { powers(f32, count, plan, codes); }

uint64_t weigh_codes(const uint32_t* f32, const uint32_t* codes, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += (uint64_t{codes[i]} + 1U) * mix64(f32[i]);
  return sum;
}

}  // namespace
}  // namespace mx::kernels::sweep
