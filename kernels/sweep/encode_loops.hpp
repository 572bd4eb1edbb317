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

template <bool kTwosComplement, class Code>
void floating(const uint32_t* f32, size_t count, const FloatingPlan plan, Code* codes) {
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
    codes[i] = static_cast<Code>(with_specials(code, source, magnitude, plan.special));
  }
}

/// Both codes are the same but for the sign.
inline bool mirrored(const BySign& codes, uint32_t sign_bit) { return codes.of[1] == (codes.of[0] | sign_bit) && (codes.of[0] & sign_bit) == 0; }

/// Ties to even, nothing flushed, the sign in its own bit whatever the magnitude: what most implementations do, and what `nearest` is for.
inline bool is_nearest(const FloatingPlan& plan) {
  const SpecialCodes& special = plan.special;
  return plan.even == 1 && !plan.twos_complement && !plan.one_zero && !plan.negative_is_nan && plan.sign_bit != 0 && plan.result_from == 0 &&
         special.source_from == 0 && special.payload_mask == 0 && plan.addend.of[0] == plan.addend.of[1] &&
         special.last_in_range.of[0] == special.last_in_range.of[1] && mirrored(special.overflow, plan.sign_bit) &&
         mirrored(special.infinity, plan.sign_bit);
}

/// The code of a magnitude of normal result, ties to even.
inline uint32_t nearest_code(uint32_t magnitude, const FloatingPlan& plan) {
  return ((magnitude + plan.addend.of[0] + ((magnitude >> plan.shift) & 1U)) >> plan.shift) - plan.rebias;
}

/// `floating` for such plans: the magnitude's code, then the sign. A subnormal result is rounded by the processor, in the last places of a sum.
template <class Code>
void nearest(const uint32_t* f32, size_t count, const FloatingPlan plan, Code* codes) {
  // 2^23 units of the subnormal grid: plan.scale is 2^kFinePlaces over one unit.
  const uint32_t places = ((2U * 127U + kF32MantissaBits + kFinePlaces) << kF32MantissaBits) - plan.scale;
  const uint32_t grid_bits = plan.scale == 0 ? 0U : places;
  const float grid = __builtin_bit_cast(float, grid_bits);
  const uint32_t sign_places = 31U - static_cast<uint32_t>(__builtin_ctz(plan.sign_bit));
  const SpecialCodes& special = plan.special;
  const uint32_t last = special.last_in_range.of[0], overflow = special.overflow.of[0], infinity = special.infinity.of[0];
  for (size_t i = 0; i < count; ++i) {
    const uint32_t source = f32[i];
    const uint32_t magnitude = source & ~kSign;
    const uint32_t subnormal = __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, magnitude) + grid) - grid_bits;
    uint32_t code = select(mask_above(plan.min_normal, magnitude), subnormal, nearest_code(magnitude, plan));
    code = select(mask_above(magnitude, last), overflow, code);
    code = select(mask_above(magnitude, kF32Infinity - 1U), infinity, code) | ((source & kSign) >> sign_places);
    codes[i] = static_cast<Code>(select(mask_above(magnitude, kF32Infinity), select(mask_negative(source), special.nan), code));
  }
}

/// A magnitude that has the code of all that overflows, for `summed`; 0 where there is none.
inline uint32_t cap_of(const FloatingPlan& plan) {
  const SpecialCodes& special = plan.special;
  const uint32_t overflow = special.overflow.of[0], last = special.last_in_range.of[0];
  if (plan.scale == 0 || special.infinity.of[0] != overflow || !mirrored(special.nan, plan.sign_bit)) return 0;
  const uint32_t cap = nearest_code(last, plan) == overflow ? last : last + 1U;
  const bool has_room = (cap >> kF32MantissaBits) + plan.shift < 255U;
  return cap >= plan.min_normal && has_room && nearest_code(cap, plan) == overflow ? cap : 0;
}

/// `nearest` where a cap is there: the processor rounds in the last places of the sum with a power of two whose unit is that of the result, that of
/// the magnitude's own binade or of the subnormal grid. Since that power is even, ties go to the even code.
template <class Code>
void summed(const uint32_t* f32, size_t count, const FloatingPlan plan, uint32_t cap, Code* codes) {
  const uint32_t grid = (plan.min_normal & kF32Infinity) + (plan.shift << kF32MantissaBits);
  const uint32_t sign_places = 31U - static_cast<uint32_t>(__builtin_ctz(plan.sign_bit));
  for (size_t i = 0; i < count; ++i) {
    const uint32_t source = f32[i];
    const uint32_t whole = source & ~kSign;
    const uint32_t magnitude = static_cast<int32_t>(whole) < static_cast<int32_t>(cap) ? whole : cap;
    const uint32_t own = (magnitude & kF32Infinity) + (plan.shift << kF32MantissaBits);
    const uint32_t power = static_cast<int32_t>(own) > static_cast<int32_t>(grid) ? own : grid;
    const float sum = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, power);
    uint32_t code = (__builtin_bit_cast(uint32_t, sum) - power) + ((power - grid) >> plan.shift);
    code = select(mask_above(whole, kF32Infinity), plan.special.nan.of[0], code) | ((source & kSign) >> sign_places);
    codes[i] = static_cast<Code>(code);
  }
}

template <class Code>
void powers(const uint32_t* f32, size_t count, const PowerPlan plan, Code* codes) {
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
    codes[i] = static_cast<Code>(select(mask_above(1U, magnitude), plan.zero_code, code));
  }
}

inline uint64_t mix64(uint64_t i) {
  uint64_t z = i + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

template <class Code>
void encode_floating(const uint32_t* f32, size_t count, const FloatingPlan& plan, Code* codes) {
  if (is_nearest(plan)) {
    const uint32_t cap = cap_of(plan);
    return cap == 0 ? nearest(f32, count, plan, codes) : summed(f32, count, plan, cap, codes);
  }
  plan.twos_complement ? floating<true>(f32, count, plan, codes) : floating<false>(f32, count, plan, codes);
}
template <class Code>
void encode_powers(const uint32_t* f32, size_t count, const PowerPlan& plan, Code* codes) {
  powers(f32, count, plan, codes);
}

uint64_t weigh_codes(const uint32_t* f32, const uint32_t* codes, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += (uint64_t{codes[i]} + 1U) * mix64(f32[i]);
  return sum;
}

}  // namespace
}  // namespace mx::kernels::sweep
