#pragma once
// What the tests of scaled formats share: plain fp32 arithmetic on patterns and random blocks. Restates implementations step by step with the
// processor's own operations.

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/numerics/search_encoder.hpp"

namespace mx::tests {

inline std::uint32_t bits_of(float number) { return std::bit_cast<std::uint32_t>(number); }
inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// 32 random bits.
inline std::uint32_t word_of(std::mt19937& random) { return static_cast<std::uint32_t>(random()); }

/// fp32 patterns around a common exponent, with zeros of both signs and, in every eighth block, subnormals, an Inf or a NaN.
inline std::vector<std::uint32_t> random_numbers(std::mt19937& random, std::size_t count) {
  const std::uint32_t kind = word_of(random) % 8;
  const std::uint32_t around = kind == 0 ? word_of(random) % 4 : 90U + word_of(random) % 60;
  std::vector<std::uint32_t> block;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t sign = (word_of(random) & 1U) << 31;
    const std::uint32_t exponent = around - std::min(around, static_cast<std::uint32_t>(word_of(random) % 12));
    // Few mantissa bits make ties and exact scales likely.
    const std::uint32_t mantissa = word_of(random) % 2 == 0 ? word_of(random) % (1U << 23) : (word_of(random) % 16) << 19;
    block.push_back(sign | (word_of(random) % 10 == 0 ? 0U : (exponent << 23) | mantissa));
  }
  const std::uint32_t special = word_of(random) % 24;
  if (special < 4) block[word_of(random) % count] = special < 2 ? 0x7F800000U | (special << 31) : 0x7FC00000U | (special << 31);
  if (special == 4) block.assign(count, 0x7FC00000U);
  if (special == 5) block.assign(count, 0x80000000U);
  return block;
}

}  // namespace mx::tests
