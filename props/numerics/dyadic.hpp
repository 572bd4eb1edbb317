#pragma once
// Numbers m * 2^e on 128-bit integers: the exact arithmetic in which laws restate what contracts compute. Shares nothing with the model.

#include <cstdint>

namespace mx::props::numerics {

__extension__ using Uint128 = unsigned __int128;

/// (-1)^negative * magnitude * 2^exponent; zero has a sign too. Magnitudes of results stay below 2^127: operands are a caller's to keep near enough.
struct Dyadic {
  Uint128 magnitude = 0;
  int exponent = 0;
  bool negative = false;
};

/// The number of finite fp32 bits, and back: the bits of a number that fp32 holds.
Dyadic from_f32(std::uint32_t bits);
std::uint32_t f32_of(const Dyadic& number);

Dyadic product(const Dyadic& a, const Dyadic& b);
/// The exact sum; x - x is +0, and so is a sum of zeros unless both are -0.
Dyadic sum(const Dyadic& a, const Dyadic& b);

/// To a multiple of 2^unit: toward zero, and to nearest even.
Dyadic truncated_to_unit(const Dyadic& number, int unit);
Dyadic rounded_to_unit(const Dyadic& number, int unit);
/// To so many significant bits: toward zero, and to nearest even.
Dyadic truncated_to_bits(const Dyadic& number, int bits);
Dyadic rounded_to_bits(const Dyadic& number, int bits);

}  // namespace mx::props::numerics
