// N15: wide arithmetic. What an operation left over, computed exactly, is no more than half a unit of the result, and half of it only where the
// result is even.

#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/numerics/exact_sum.hpp"
#include "model/numerics/wide.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

Value negated(Value value) {
  value.negative = !value.negative;
  return value;
}

Value magnitude(Value value) {
  value.negative = false;
  return value;
}

/// Runs of ones, few bits, any; exponents within 70 of 0, so that operands of a sum overlap or just miss each other.
Value pick_value() {
  std::uint64_t significand = (std::uint64_t{pick_uniform(0, 0xFFFFFFFFU)} << 32) | pick_uniform(0, 0xFFFFFFFFU);
  const std::uint32_t bit = pick_uniform(0, 63);
  switch (pick_uniform(0, 3)) {
    case 0: significand = (std::uint64_t{1} << bit) + pick_uniform(0, 2) - 1; break;
    case 1: significand = ~std::uint64_t{0} << bit; break;
    case 2: significand >>= bit; break;
    default: break;
  }
  return canonical({.significand = std::max<std::uint64_t>(significand, 1),
                    .exponent = static_cast<std::int32_t>(pick_uniform(0, 140)) - 70,
                    .cls = ValueClass::finite,
                    .negative = pick_uniform(0, 1) == 1});
}

/// Half a unit of the 64th bit.
Value half_unit(const Value& result) {
  return {.significand = 1, .exponent = result.exponent - std::countl_zero(result.significand) - 1, .cls = ValueClass::finite, .negative = false};
}

/// Half a unit of a, or just beside it: what decides a sum lies a word below.
Value pick_beside_half(const Value& a) {
  const Value half = half_unit(a);
  const std::uint64_t significand = (std::uint64_t{1} << 63) + pick_uniform(0, 2) - 1;
  return canonical({.significand = significand, .exponent = half.exponent - 63, .cls = ValueClass::finite, .negative = pick_uniform(0, 1) == 1});
}

/// Whether the 64th bit is 0.
bool is_even(const Value& result) { return std::countl_zero(result.significand) != 0 || (result.significand & 1U) == 0; }

/// `rest` is what the exact value has beyond the result, both times `scale`.
bool is_nearest(const Value& result, const ExactSum& rest, const Value& scale) {
  const Value left = rest.leading_bits();
  if (left.cls == ValueClass::zero) return true;
  Value half = half_unit(result);
  half.negative = !left.negative;
  ExactSum beyond = rest;
  beyond.add_product(half, magnitude(scale));
  const Value over = beyond.leading_bits();
  return over.cls == ValueClass::zero ? is_even(result) : over.negative != left.negative;
}

const Value kOne{.significand = 1, .exponent = 0, .cls = ValueClass::finite, .negative = false};

long double number(const Value& value) {
  const long double size = std::ldexp(static_cast<long double>(value.significand), value.exponent);
  return value.negative ? -size : size;
}

/// Within 2^-40 of the C library's result: a long double may have no more than 53 bits, and an argument's last one counts 2^8 times.
bool is_close(const Value& got, long double reference) { return std::fabs(number(got) - reference) <= std::fabs(reference) * 0x1p-40L; }

}  // namespace

Outcome wide_sums_round_once(const Law& law) {
  return check_property(law, [] {
    for (int i = 0; i < 16; ++i) {
      const Value a = pick_value();
      const Value b = i % 2 == 0 ? pick_value() : pick_beside_half(a);
      const Value result = wide::add(a, b);
      RC_ASSERT(result == wide::add(b, a));
      RC_ASSERT(wide::sub(a, negated(b)) == result);
      ExactSum rest;
      rest.add(a);
      rest.add(b);
      RC_ASSERT((rest.leading_bits().cls == ValueClass::zero) == (result.cls == ValueClass::zero));
      if (result.cls == ValueClass::zero) continue;
      rest.add(negated(result));
      RC_ASSERT(is_nearest(result, rest, kOne));
    }
  });
}

Outcome wide_products_round_once(const Law& law) {
  return check_property(law, [] {
    for (int i = 0; i < 16; ++i) {
      const Value a = pick_value();
      const Value b = pick_value();
      const Value result = wide::mul(a, b);
      RC_ASSERT(result == wide::mul(b, a));
      ExactSum rest;
      rest.add_product(a, b);
      rest.add(negated(result));
      RC_ASSERT(is_nearest(result, rest, kOne));
    }
  });
}

Outcome wide_quotients_round_once(const Law& law) {
  return check_property(law, [] {
    for (int i = 0; i < 16; ++i) {
      const Value a = pick_value();
      const Value b = pick_value();
      const Value result = wide::div(a, b);
      ExactSum rest;
      rest.add(a);
      rest.add_product(negated(result), b);
      RC_ASSERT(is_nearest(result, rest, b));
    }
  });
}

Outcome wide_roots_round_once(const Law& law) {
  return check_property(law, [] {
    const Value x = magnitude(pick_value());
    const Value root = wide::sqrt(x);
    // (root - h)^2 <= x <= (root + h)^2, h half a unit; equality is impossible, and h^2 is added exactly.
    const Value half = half_unit(root);
    for (const Value& step : {half, negated(half)}) {
      ExactSum beyond;
      beyond.add_product(root, root);
      beyond.add_product(root, step);
      beyond.add_product(root, step);
      beyond.add_product(half, half);
      beyond.add(negated(x));
      RC_ASSERT(beyond.leading_bits().negative == step.negative);
    }
  });
}

Outcome wide_functions_are_close(const Law& law) {
  return check_property(law, [] {
    // Magnitudes from 2^-9 to 2^9.
    Value x = pick_value();
    x.exponent = x.exponent % 9 - (64 - std::countl_zero(x.significand));
    RC_ASSERT(is_close(wide::exp(x), std::exp(number(x))));
    const Value size = magnitude(x);
    RC_ASSERT(is_close(wide::log1p(size), std::log1p(number(size))));
  });
}

}  // namespace mx::props::numerics
