#include "props/numerics/dyadic.hpp"

#include "props/numerics/grid.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;

int width_of(Uint128 magnitude) {
  int width = 0;
  for (; magnitude != 0; magnitude >>= 1) ++width;
  return width;
}

/// Smallest magnitude, so that later products and sums have room.
Dyadic stripped(Dyadic number) {
  if (number.magnitude == 0) return {0, 0, number.negative};
  while ((number.magnitude & 1U) == 0) {
    number.magnitude >>= 1;
    ++number.exponent;
  }
  return number;
}

}  // namespace

Dyadic from_f32(std::uint32_t bits) {
  const bool negative = bits >= kSign;
  const std::uint32_t field = (bits & ~kSign) >> 23;
  const std::uint32_t mantissa = bits & 0x7FFFFFU;
  if (field == 0) return stripped({mantissa, -149, negative});
  return stripped({mantissa + 0x800000U, static_cast<int>(field) - 150, negative});
}

std::uint32_t f32_of(const Dyadic& number) {
  const Dyadic odd = stripped(number);
  return f32_bits(static_cast<std::uint64_t>(odd.magnitude), odd.exponent) | (number.negative ? kSign : 0U);
}

Dyadic product(const Dyadic& a, const Dyadic& b) { return stripped({a.magnitude * b.magnitude, a.exponent + b.exponent, a.negative != b.negative}); }

Dyadic sum(const Dyadic& a, const Dyadic& b) {
  if (a.magnitude == 0 && b.magnitude == 0) return {0, 0, a.negative && b.negative};
  if (a.magnitude == 0) return b;
  if (b.magnitude == 0) return a;
  const int unit = a.exponent < b.exponent ? a.exponent : b.exponent;
  const Uint128 left = a.magnitude << (a.exponent - unit);
  const Uint128 right = b.magnitude << (b.exponent - unit);
  if (a.negative == b.negative) return stripped({left + right, unit, a.negative});
  if (left == right) return {};
  return stripped({left > right ? left - right : right - left, unit, left > right ? a.negative : b.negative});
}

Dyadic truncated_to_unit(const Dyadic& number, int unit) {
  if (number.exponent >= unit) return number;
  const int below = unit - number.exponent;
  return stripped({below < 128 ? number.magnitude >> below : Uint128{0}, unit, number.negative});
}

Dyadic truncated_to_bits(const Dyadic& number, int bits) { return truncated_to_unit(number, number.exponent + width_of(number.magnitude) - bits); }

Dyadic rounded_to_unit(const Dyadic& number, int unit) {
  const Dyadic down = truncated_to_unit(number, unit);
  const Dyadic rest = sum(number, {down.magnitude, down.exponent, !down.negative});
  if (rest.magnitude == 0) return number;
  const bool above_half = rest.exponent + width_of(rest.magnitude) > unit - 1 && !(rest.magnitude == 1 && rest.exponent == unit - 1);
  const bool tie = rest.magnitude == 1 && rest.exponent == unit - 1;
  // Stripped: the last bit is one exactly where the exponent is the unit itself.
  const bool odd = down.magnitude != 0 && down.exponent == unit;
  return above_half || (tie && odd) ? sum(down, {1, unit, number.negative}) : down;
}

Dyadic rounded_to_bits(const Dyadic& number, int bits) { return rounded_to_unit(number, number.exponent + width_of(number.magnitude) - bits); }

}  // namespace mx::props::numerics
