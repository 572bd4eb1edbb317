// bf16-chain and bf16-pair at the ends of fp32.

#include <cmath>
#include <random>
#include <string>

#include "tests/catch.hpp"
#include "tests/counts.hpp"
#include "tests/kernels/moe_edges.hpp"

using namespace mx;
using namespace mx::tests::edges;

namespace {

constexpr Contract kFolding[] = {Contract::bf16_chain, Contract::bf16_pair};

}  // namespace

TEST_CASE("bf16-chain and bf16-pair of blocks whose scales lie far apart are the contracts' at both ends of fp32") {
  std::mt19937 random(5);
  std::size_t finite = 0;
  std::size_t infinite = 0;
  std::size_t zero = 0;
  mx::tests::EveryNth picked(5);
  for (const WeightFacts& format : kFormats) {
    if (format.scale != &kE8m0) continue;
    for (const int exponent : {20, 60, 127, 200, 240}) {
      for (const int first : {1, 2, 3, 8, 9, 10, 11, 60, 118, 127, 136, 200, 245, 246, 247, 248, 250, 251, 252, 253, 254}) {
        for (const int step : {-130, -127, -121, -60, -1, 0, 1, 60, 121, 127, 130}) {
          const int second = first + step;
          if (second < 1 || second > 254 || !picked()) continue;
          EdgeCase one = random() % 2 == 0 ? one_unit(format, exponent) : cancelling(format, exponent, random);
          one.scales = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)};
          // The second block adds its own, takes the first one's sum away again, or nothing.
          for (std::size_t k = 0; k < 2; ++k) one.x[32 + k] = random() % 3 == 0 ? 0 : one.x[k] ^ 0x8000U;
          const std::uint32_t largest = format.element == &kE2m1 ? 7 : 0x7E;
          one.codes[32] = one.codes[33] = random() % 2 == 0 ? largest : static_cast<std::uint32_t>(random() % 8);
          for (const Contract contract : kFolding) {
            const std::uint32_t expected =
                held(contract, one, format,
                     "exponent field " + std::to_string(exponent) + ", scales " + std::to_string(first) + ", " + std::to_string(second));
            ++(is_zero(expected) ? zero : is_infinite(expected) ? infinite : finite);
          }
        }
      }
    }
  }
  const auto least = static_cast<std::size_t>(mx::tests::counted(18, 100));
  CHECK(finite > least);
  CHECK(infinite > least);
  CHECK(zero > least);
}

TEST_CASE("sums of bf16-chain and bf16-pair that come down to the smallest normal number, or up to the largest, in units of any block") {
  std::size_t finite = 0;
  std::size_t infinite = 0;
  std::size_t zero = 0;
  mx::tests::EveryNth picked(3);
  // The sum of the first block lies `apart` powers of two from the scale of the second: as it is, or in that block's units, it is next to either end.
  for (const WeightFacts& format : kFormats) {
    if (format.scale != &kE8m0) continue;
    for (int apart = -100; apart <= 100; apart += 20) {
      for (int end = -6; end <= 6; ++end) {
        for (const bool large : {false, true}) {
          constexpr int kScale = 120;
          const int second = kScale + apart;
          // One unit, or the sum of two large numbers: exponents of what is left, less those of the scale.
          const int wanted = large ? 127 + end - (apart < 0 ? -apart : kScale - 127) : -126 + end - (apart > 0 ? -apart : kScale - 127);
          const int exponent = large ? wanted + 126 - (format.element == &kE2m1 ? 2 : 8) : wanted + 134 - format.unit;
          if (exponent < 1 || exponent > 254 || second < 2 || second > 252 || !picked()) continue;
          EdgeCase one = one_unit(format, exponent);
          if (large) {
            one.x[1] = one.x[0];
            one.codes[0] = one.codes[1] = format.element == &kE2m1 ? 7 : 0x7E;
          }
          one.scales = {kScale, static_cast<std::uint32_t>(second)};
          for (const Contract contract : kFolding) {
            const std::uint32_t expected =
                held(contract, one, format, "apart " + std::to_string(apart) + ", " + std::to_string(end) + " from the end");
            ++(is_zero(expected) ? zero : is_infinite(expected) ? infinite : finite);
          }
        }
      }
    }
  }
  const auto least = static_cast<std::size_t>(mx::tests::counted(1, 5));
  CHECK(finite > 10 * least);
  CHECK(infinite > least);
  CHECK(zero > least);
}

TEST_CASE("a sum of bf16-chain and bf16-pair just below the smallest normal number is one if it rounds to that with 24 bits, else zero") {
  // 2^-126 less 2^-152, less 2^-151 (a tie), less 1.5 * 2^-151, which would be 2^-126 among subnormal numbers, and less 2^-150, by the second
  // product.
  struct Less {
    std::uint32_t x;  ///< times 2^-63
    bool kept;
  };
  constexpr Less kLess[] = {{38U << 7, true}, {39U << 7, true}, {39U << 7 | 0x40U, false}, {40U << 7, false}};
  for (const WeightFacts& format : kFormats) {
    for (const Less& less : kLess) {
      for (const std::uint32_t sign : {0U, 0x8000U}) {
        EdgeCase one = one_unit(format, 64);
        one.codes[0] = one.codes[1] = format.element == &kE2m1 ? 2 : 0x38;
        one.scales.assign(one.scales.size(), format.scale == &kE8m0 ? 64 : format.scale == &kF32 ? bits_of(0x1p-63F) : 0x38);
        one.expert = 0x1p-63F;
        one.x[1] = 64U << 7 | sign;
        one.x[0] = less.x | (sign ^ 0x8000U);
        const std::uint32_t expected = held(Contract::bf16_chain, one, format, "less field " + std::to_string(less.x >> 7));
        CHECK((expected & 0x7FFFFFFFU) == (less.kept ? 0x00800000U : 0U));
        // The same two of one chain of bf16-pair, one after the other.
        for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
          EdgeCase pair = one;
          pair.x.assign(pair.x.size(), 0);
          pair.codes.assign(pair.codes.size(), 0);
          pair.codes[first] = pair.codes[first + 2] = one.codes[0];
          pair.x[first] = one.x[1];
          pair.x[first + 2] = one.x[0];
          const std::uint32_t of_pair = held(Contract::bf16_pair, pair, format, "pair, less field " + std::to_string(less.x >> 7));
          CHECK((of_pair & 0x7FFFFFFFU) == (expected & 0x7FFFFFFFU));
        }
      }
    }
  }
}

TEST_CASE("a sum of bf16-chain that is flushed to -0 keeps its sign where weights of -0 follow, and only there") {
  const WeightFacts& format = kFormats[2];
  std::size_t negative = 0;
  std::size_t positive = 0;
  std::size_t normal = 0;
  // 129 and 194 are 1 + 2^-7 and one and a half times that, rounded to eight bits: what is left of 197 * 129 - 131 * 194 is one unit of both.
  constexpr int kExponent = 110;
  for (int unit = -140; unit <= -120; ++unit) {
    for (const std::uint32_t zero : {0x0U, 0x8U}) {
      EdgeCase one = one_unit(format, kExponent);
      one.codes.assign(format.k, zero);
      one.x.assign(format.k, std::uint32_t{kExponent} << 7);
      one.codes[0] = 2;
      one.codes[1] = 3 | 8;
      one.x[0] |= 197 - 128;
      one.x[1] |= 131 - 128;
      one.expert = std::ldexp(1.0F + std::ldexp(1.0F, -7), unit - (kExponent - 134) + 9 + 7);
      const std::uint32_t expected = held(Contract::bf16_chain, one, format, "unit 2^" + std::to_string(unit) + ", zeros " + std::to_string(zero));
      ++(!is_zero(expected) ? normal : expected == 0 ? positive : negative);
    }
  }
  CHECK(negative == 14);  // 2^-140 to 2^-127
  CHECK(positive == 14);
  CHECK(normal == 14);
}
