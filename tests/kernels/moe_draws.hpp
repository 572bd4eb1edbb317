#pragma once
// Random numbers for the tests of products.

#include <bit>
#include <cstdint>
#include <random>

namespace mx::tests {

/// What scale bytes and activations look like.
enum class Kind { usual, any_scale, tiny_activations, special_activations, everything };
inline constexpr Kind kKinds[] = {Kind::usual, Kind::any_scale, Kind::tiny_activations, Kind::special_activations, Kind::everything};

using Draws = std::mt19937;

/// The significand of an fp32 scale whose product with some weights lies next to a tie of bf16, nearer than half a unit of fp32: rounding it to fp32
/// first would make it one. With an odd weight V the product V * G ends `dropped` bits below bf16's last; G solves V * G = 2^(dropped - 1) + r.
inline std::uint32_t next_to_tie(std::uint32_t bits) {
  const std::uint32_t odd = 3 + 2 * (bits % 7);
  const auto dropped = static_cast<std::uint32_t>(16 + std::bit_width(odd) - bits / 7 % 2);
  std::uint32_t inverse = odd;
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  const std::uint32_t wanted = (1U << (dropped - 1)) + (bits / 14 % 2 == 0 ? 1U : ~0U);
  const std::uint32_t mask = (1U << dropped) - 1;
  return 0x00800000U | (bits & 0x007FFFFFU & ~mask) | (inverse * wanted & mask);
}

/// fp32 scales: around 1, some of them next to ties; or anything, and often near the ends of fp32, where vectors leave products to plain code.
inline std::uint32_t any_f32_scale(Draws& random, Kind kind) {
  const auto bits = static_cast<std::uint32_t>(random());
  if ((kind == Kind::any_scale || kind == Kind::everything) && random() % 2 == 0) {
    const std::uint32_t field = bits % 2 == 0 ? bits >> 23 & 15U : 222 + (bits >> 23 & 7U);
    return bits % 3 == 0 ? bits : (bits & 0x807FFFFFU) | field << 23;
  }
  const std::uint32_t fraction = random() % 2 == 0 ? next_to_tie(static_cast<std::uint32_t>(random())) & 0x007FFFFFU : bits & 0x007FFFFFU;
  return fraction | (120 + (bits >> 24 & 15U)) << 23;
}

}  // namespace mx::tests
