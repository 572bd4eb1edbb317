// Exact sums and dot products against MPFR with more bits than any sum needs.

#include "model/numerics/exact_sum.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "model/error.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

constexpr long kPrecision = 1400;
constexpr std::uint32_t kNegativeZero = 0x80000000U;

std::uint32_t any_finite(std::mt19937& random, std::uint32_t exponents) {
  const auto bits = static_cast<std::uint32_t>(random());
  const std::uint32_t exponent = 127U - exponents / 2 + static_cast<std::uint32_t>(random()) % exponents;
  return (bits & 0x807FFFFFU) | (exponent << 23);
}

Value product_of(std::uint32_t bits) { return decode(kF32, bits); }

}  // namespace

TEST_CASE("sums of products equal MPFR's, cancellation included") {
  std::mt19937 random(7);
  Comparison comparison;
  std::uint64_t cancelled = 0;
  const Conversion to_bf16 = conversion(profile_named(kOcp), kF32, kBf16);
  for (int round = 0; round < 6000; ++round) {
    // From products that overlap to products across the whole range of fp32 squared.
    const std::uint32_t exponents = round % 3 == 0 ? 4U : round % 3 == 1 ? 40U : 254U;
    const int terms = 1 + static_cast<int>(random() % 64);
    ExactSum sum;
    MpfrNumber expected(kPrecision);
    MpfrNumber product(kPrecision);
    mpfr_set_zero(expected.get(), 1);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (int i = 0; i < terms; ++i) pairs.emplace_back(any_finite(random, exponents), any_finite(random, exponents));
    // Cancels all but the last few products, so that the rest decides.
    if (round % 2 == 0) {
      const std::size_t count = pairs.size();
      for (std::size_t i = random() % 3; i < count; ++i) pairs.emplace_back(pairs[i].first ^ kNegativeZero, pairs[i].second);
    }
    for (const auto& [a, b] : pairs) {
      sum.add_product(product_of(a), product_of(b));
      mpfr_set_d(product.get(), f32_value(a), MPFR_RNDN);
      mpfr_mul_d(product.get(), product.get(), f32_value(b), MPFR_RNDN);
      mpfr_add(expected.get(), expected.get(), product.get(), MPFR_RNDN);
    }
    if (mpfr_zero_p(expected.get())) {
      ++cancelled;
      mpfr_set_zero(expected.get(), 1);
    }
    const std::uint32_t bits = rounded_bits(expected.get(), kF32Range);
    comparison.expect(sum.to_f32() == bits, [&] { return "round " + std::to_string(round) + ": " + hex(sum.to_f32()) + ", MPFR " + hex(bits); });
    const std::uint32_t half_bits = rounded_bits(expected.get(), kBf16Range);
    comparison.expect(sum.round(kBf16, to_bf16) << 16 == half_bits,
                      [&] { return "round " + std::to_string(round) + " in bf16: " + hex(sum.round(kBf16, to_bf16)) + ", MPFR " + hex(half_bits); });
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
  CHECK(cancelled > 100);
}

TEST_CASE("sums near fp32 midpoints and at its ends round once") {
  const auto sum_of = [](std::initializer_list<Value> values) {
    ExactSum sum;
    for (const Value& value : values) sum.add(value);
    return sum.to_f32();
  };
  const auto power = [](int exponent, bool negative = false) {
    return Value{.significand = 1, .exponent = exponent, .cls = ValueClass::finite, .negative = negative};
  };
  CHECK(sum_of({power(0), power(-24)}) == 0x3F800000U);               // a tie, to even
  CHECK(sum_of({power(0), power(-24), power(-640)}) == 0x3F800001U);  // broken by the smallest unit there is
  CHECK(sum_of({power(0), power(-23), power(-24), power(-640, true)}) == 0x3F800001U);
  CHECK(sum_of({power(-150)}) == 0x00000000U);
  CHECK(sum_of({power(-150), power(-600)}) == 0x00000001U);
  CHECK(sum_of({power(128)}) == 0x7F800000U);
  CHECK(sum_of({power(128), power(103, true), power(-640, true)}) == 0x7F7FFFFFU);
  CHECK(sum_of({power(128), power(103, true)}) == 0x7F800000U);  // the midpoint above the largest number
  CHECK(sum_of({power(575), power(-640), power(575, true)}) == 0x00000000U);
  ExactSum largest;
  const Value most{.significand = ~std::uint64_t{0}, .exponent = 287, .cls = ValueClass::finite, .negative = false};
  for (int i = 0; i < 1000; ++i) largest.add_product(most, most);
  CHECK(largest.to_f32() == 0x7F800000U);
  CHECK_THROWS_AS(sum_of({power(-641)}), Error);
  CHECK_THROWS_AS(sum_of({power(576)}), Error);
}

TEST_CASE("zeros, infinities and NaNs in sums") {
  const auto sum_of = [](std::initializer_list<std::uint32_t> values) {
    ExactSum sum;
    for (std::uint32_t bits : values) sum.add(decode(kF32, bits));
    return sum.to_f32();
  };
  CHECK(ExactSum{}.to_f32() == 0x00000000U);
  CHECK(sum_of({kNegativeZero, kNegativeZero}) == kNegativeZero);
  CHECK(sum_of({kNegativeZero, 0}) == 0x00000000U);
  CHECK(sum_of({0xBF800000U, 0x3F800000U}) == 0x00000000U);
  CHECK(sum_of({0x7F800000U, 0xFF7FFFFFU}) == 0x7F800000U);
  CHECK(sum_of({0xFF800000U}) == 0xFF800000U);
  CHECK(sum_of({0x7F800000U, 0xFF800000U}) == 0x7FC00000U);
  CHECK(sum_of({0xFFC00000U, 0x7F800000U}) == 0x7FC00000U);
  ExactSum product;
  product.add_product(decode(kF32, 0), decode(kF32, 0xFF800000U));
  CHECK(product.to_f32() == 0x7FC00000U);
  ExactSum negative_zero;
  negative_zero.add_product(decode(kF32, 0), decode(kF32, 0xBF800000U));
  CHECK(negative_zero.to_f32() == kNegativeZero);
}

TEST_CASE("2^20 equal products add up without loss") {
  ExactSum sum;
  const Value largest = decode(kF32, 0x7F7FFFFFU);
  const Value smallest = scaled_value(0x1, 0, block_format_named("mxfp4"));
  for (int i = 0; i < (1 << 20); ++i) sum.add_product(largest, smallest);
  // (2^128 - 2^104) * 2^-128 * 2^20
  CHECK(sum.to_f32() == 0x497FFFFFU);
}

TEST_CASE("the sequential contract is one fused multiply-add per product, in order") {
  std::mt19937 random(11);
  Comparison comparison;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Value> a;
    std::vector<Value> b;
    MpfrNumber expected(24);
    MpfrNumber exact(kPrecision);
    float sum = 0;
    for (int k = 0; k < 32; ++k) {
      const std::uint32_t x = any_finite(random, 60);
      const std::uint32_t y = any_finite(random, 60);
      a.push_back(decode(kF32, x));
      b.push_back(decode(kF32, y));
      mpfr_set_d(exact.get(), f32_value(x), MPFR_RNDN);
      mpfr_mul_d(exact.get(), exact.get(), f32_value(y), MPFR_RNDN);
      mpfr_add_d(exact.get(), exact.get(), static_cast<double>(sum), MPFR_RNDN);
      sum = std::bit_cast<float>(rounded_bits(exact.get(), kF32Range));
    }
    mpfr_set_d(exact.get(), static_cast<double>(sum), MPFR_RNDN);
    mpfr_add_d(exact.get(), exact.get(), 0.1F, MPFR_RNDN);
    const std::uint32_t bits = rounded_bits(exact.get(), kF32Range);
    const std::uint32_t result = dot(Contract::f32_sequential, a, b, std::bit_cast<std::uint32_t>(0.1F));
    comparison.expect(result == bits, [&] { return hex(result) + ", MPFR " + hex(bits); });
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
}

TEST_CASE("contracts differ where the order matters, and are found by name") {
  // 2^30 + 1 - 2^30: exactly 1, but the fp32 chain loses the 1.
  const std::vector<Value> ones(3, decode(kF32, 0x3F800000U));
  const std::vector<Value> terms{decode(kF32, 0x4E800000U), decode(kF32, 0x3F800000U), decode(kF32, 0xCE800000U)};
  CHECK(dot(Contract::exact, terms, ones, 0x3F800000U) == 0x40000000U);
  CHECK(dot(Contract::f32_sequential, terms, ones, 0x3F800000U) == 0x3F800000U);
  CHECK(dot(Contract::exact, {}, {}, kNegativeZero) == kNegativeZero);
  CHECK_THROWS_AS(dot(Contract::exact, terms, {}, 0), Error);
  for (const ContractRow& row : all_contracts()) CHECK(contract_named(row.name) == row.contract);
  CHECK(contract_named("f32_sequential") == Contract::f32_sequential);
  CHECK_THROWS_AS(contract_named("exakt-and-much-more"), Error);
}
