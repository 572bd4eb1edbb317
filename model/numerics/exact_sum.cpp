#include "model/numerics/exact_sum.hpp"

#include <bit>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

__extension__ using Uint128 = unsigned __int128;

/// Adds with carry in and out.
std::uint64_t add_carry(std::uint64_t a, std::uint64_t b, bool& carry) {
  const std::uint64_t partial = a + b;
  const std::uint64_t sum = partial + (carry ? 1U : 0U);
  carry = partial < a || sum < partial;
  return sum;
}

[[noreturn]] void out_of_range(int exponent) {
  throw Error(ErrorCode::usage, "a term with exponent " + std::to_string(exponent) + " does not fit the exact accumulator");
}

}  // namespace

void ExactSum::add_magnitude(std::uint64_t low, std::uint64_t high, int exponent, bool negative) {
  const int position = exponent - kUnitExponent;
  // A term covers three limbs at most; the top limb is headroom for carries.
  constexpr int kPositions = 64 * (static_cast<int>(kLimbs) - 3);
  if (position < 0 || position >= kPositions) out_of_range(exponent);
  auto limb = static_cast<std::size_t>(position) / 64;
  const int shift = position % 64;
  const Uint128 wide = Uint128{low} << shift;
  const Uint128 wide_high = Uint128{high} << shift;
  auto& limbs = magnitudes_[negative ? 1 : 0];
  bool carry = false;
  limbs[limb] = add_carry(limbs[limb], static_cast<std::uint64_t>(wide), carry);
  if (planted(Fault::exact_sum_loses_carry)) carry = false;
  ++limb;
  limbs[limb] = add_carry(limbs[limb], static_cast<std::uint64_t>(wide >> 64) | static_cast<std::uint64_t>(wide_high), carry);
  ++limb;
  limbs[limb] = add_carry(limbs[limb], static_cast<std::uint64_t>(wide_high >> 64), carry);
  while (carry) {
    ++limb;
    if (limb == kLimbs) out_of_range(exponent);
    limbs[limb] = add_carry(limbs[limb], 0, carry);
  }
}

void ExactSum::note(ValueClass cls, bool negative) {
  any_ = true;
  if (cls == ValueClass::nan) nan_ = true;
  if (cls == ValueClass::infinity) (negative ? negative_infinity_ : positive_infinity_) = true;
  if (cls != ValueClass::zero || !negative) all_negative_zero_ = false;
}

void ExactSum::add(const Value& value) {
  note(value.cls, value.negative);
  if (value.cls == ValueClass::finite) add_magnitude(value.significand, 0, value.exponent, value.negative);
}

void ExactSum::add_product(const Value& a, const Value& b) {
  const bool negative = a.negative != b.negative;
  if (a.cls == ValueClass::finite && b.cls == ValueClass::finite) {
    any_ = true;
    all_negative_zero_ = false;
    const Uint128 product = Uint128{a.significand} * b.significand;
    add_magnitude(static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64), a.exponent + b.exponent, negative);
    return;
  }
  const bool has_nan = a.cls == ValueClass::nan || b.cls == ValueClass::nan;
  const bool has_infinity = a.cls == ValueClass::infinity || b.cls == ValueClass::infinity;
  const bool has_zero = a.cls == ValueClass::zero || b.cls == ValueClass::zero;
  if (has_nan || (has_infinity && has_zero)) return note(ValueClass::nan, negative);
  note(has_infinity ? ValueClass::infinity : ValueClass::zero, negative);
}

Value ExactSum::leading_bits() const {
  if (nan_ || (positive_infinity_ && negative_infinity_)) return {.significand = 0, .exponent = 0, .cls = ValueClass::nan};
  if (positive_infinity_ || negative_infinity_) {
    return {.significand = 0, .exponent = 0, .cls = ValueClass::infinity, .negative = negative_infinity_};
  }
  const Limbs& positive = magnitudes_[0];
  const Limbs& negative = magnitudes_[1];
  std::size_t top = kLimbs;
  while (top > 0 && positive[top - 1] == negative[top - 1]) --top;
  if (top == 0) return {.significand = 0, .exponent = 0, .cls = ValueClass::zero, .negative = any_ && all_negative_zero_};
  const bool is_negative = positive[top - 1] < negative[top - 1];
  const Limbs& larger = is_negative ? negative : positive;
  const Limbs& smaller = is_negative ? positive : negative;
  Limbs difference{};
  // larger - smaller = larger + ~smaller + 1; both agree above `top`.
  bool carry = true;
  for (std::size_t i = 0; i < top; ++i) difference[i] = add_carry(larger[i], ~smaller[i], carry);
  while (difference[top - 1] == 0) --top;

  const int zeros = std::countl_zero(difference[top - 1]);
  const std::uint64_t next = top > 1 ? difference[top - 2] : 0;
  const std::uint64_t head = zeros == 0 ? difference[top - 1] : (difference[top - 1] << zeros) | (next >> (64 - zeros));
  bool rest = zeros == 0 ? next != 0 : (next << zeros) != 0;
  for (std::size_t i = 0; i + 2 < top; ++i) rest = rest || difference[i] != 0;
  return {.significand = head | (rest ? 1U : 0U),
          .exponent = kUnitExponent + 64 * static_cast<int>(top - 1) - zeros,
          .cls = ValueClass::finite,
          .negative = is_negative};
}

std::uint32_t ExactSum::round(const Format& format, const Conversion& how) const {
  Flags flags;
  return encode(leading_bits(), format, how, flags);
}

std::uint32_t ExactSum::to_f32() const {
  const Value value = leading_bits();
  return value.cls == ValueClass::nan ? f32::kNan : mx::to_f32(value);
}

}  // namespace mx
