#pragma once
// The arithmetics that a router or a layer can run in. Both are written once, over the operations that each of these offers.

#include <cstdint>
#include <span>
#include <vector>

#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/wide.hpp"

namespace mx::moe {

/// fp32 bits; every operation is rounded once, and so is a dot product as its contract says.
class F32Arithmetic {
 public:
  using Number = std::uint32_t;
  using Row = PreparedOperand;  ///< a factor of dot products, made ready once
  static constexpr Number kZero = 0;
  static constexpr Number kOne = f32::kOne;

  explicit F32Arithmetic(Contract contract) : contract_(&row_of(contract)) {}
  const ContractRow& contract() const;

  static Number from(const Value& value);  ///< nearest even, overflow to Inf
  static Value value(Number x);
  static Number negated(Number x) { return x ^ 0x80000000U; }
  static Number add(Number a, Number b) { return f32::add(a, b); }
  static Number sub(Number a, Number b) { return f32::sub(a, b); }
  static Number mul(Number a, Number b) { return f32::mul(a, b); }
  static Number div(Number a, Number b) { return f32::div(a, b); }
  static Number sqrt(Number x) { return f32::sqrt(x); }
  static Number exp(Number x) { return f32::exp(x); }
  static Number log1p(Number x) { return f32::log1p(x); }
  static Number max(Number a, Number b) { return f32::max(a, b); }
  static bool less(Number a, Number b) { return f32::less(a, b); }
  static bool is_nan(Number x) { return f32::is_nan(x); }

  Row prepared(Side side, const std::vector<Value>& values) const;
  /// sum(a[k] * b[k]) + bias.
  Number dot(const Row& a, const Row& b, const Value& bias) const;
  /// sum(a[k] * b[k]) over few terms: exact and rounded once under an exact contract, else one fused multiply-add each from +0.
  Number weighted_sum(std::span<const Number> a, std::span<const Number> b) const;

 private:
  const ContractRow* contract_;
};

/// bf16 tensors as PyTorch computes on them: operands widen to fp32, constants are fp32, and each result is rounded to bf16. Numbers are fp32 bits.
class Bf16Arithmetic {
 public:
  using Number = std::uint32_t;
  using Row = std::vector<Value>;
  static constexpr Number kZero = 0;
  static constexpr Number kOne = f32::kOne;

  static Number from(const Value& value);  ///< nearest even to fp32, for constants; a tensor's elements are bf16 already
  static Value value(Number x);
  static Number negated(Number x) { return x ^ 0x80000000U; }
  static Number add(Number a, Number b) { return rounded(f32::add(a, b)); }
  static Number sub(Number a, Number b) { return rounded(f32::sub(a, b)); }
  static Number mul(Number a, Number b) { return rounded(f32::mul(a, b)); }
  static Number div(Number a, Number b) { return rounded(f32::div(a, b)); }
  static Number sqrt(Number x) { return rounded(f32::sqrt(x)); }
  static Number exp(Number x) { return rounded(f32::exp(x)); }
  static Number log1p(Number x) { return rounded(f32::log1p(x)); }
  static Number min(Number a, Number b) { return f32::min(a, b); }
  static Number max(Number a, Number b) { return f32::max(a, b); }
  static bool less(Number a, Number b) { return f32::less(a, b); }
  static bool is_nan(Number x) { return f32::is_nan(x); }

  static Row prepared(Side /*side*/, std::vector<Value> values) { return values; }
  /// The exact sum rounded once to bf16: what a device approaches whose accumulator is wide.
  static Number dot(const Row& a, const Row& b, const Value& bias);
  /// One product and one sum each, both rounded.
  static Number weighted_sum(std::span<const Number> a, std::span<const Number> b);

 private:
  static Number rounded(Number x);
};

/// The yardstick: 64 significant bits after every operation, no range limit. Runs that were recorded in fp64 are held to it.
class WideArithmetic {
 public:
  using Number = Value;
  using Row = std::vector<Value>;
  static constexpr Number kZero{};
  static constexpr Number kOne{.significand = 1, .exponent = 0, .cls = ValueClass::finite, .negative = false};

  static Number from(const Value& value) { return value; }
  static Value value(const Number& x) { return x; }
  static Number negated(Number x) {
    x.negative = !x.negative;
    return x;
  }
  static Number add(const Number& a, const Number& b) { return wide::add(a, b); }
  static Number sub(const Number& a, const Number& b) { return wide::sub(a, b); }
  static Number mul(const Number& a, const Number& b) { return wide::mul(a, b); }
  static Number div(const Number& a, const Number& b) { return wide::div(a, b); }
  static Number sqrt(const Number& x) { return wide::sqrt(x); }
  static Number exp(const Number& x) { return wide::exp(x); }
  static Number log1p(const Number& x) { return wide::log1p(x); }
  static Number min(const Number& a, const Number& b) { return wide::min(a, b); }
  static Number max(const Number& a, const Number& b) { return wide::max(a, b); }
  static bool less(const Number& a, const Number& b) { return wide::less(a, b); }
  static bool is_nan(const Number& x) { return x.cls == ValueClass::nan; }

  static Row prepared(Side /*side*/, std::vector<Value> values) { return values; }
  /// k ascending, product and sum rounded to 64 bits each; the bias last. Not the exact accumulator: that has the range of fp32 products, and an
  /// activation of a large negative gate lies far below it.
  static Number dot(const Row& a, const Row& b, const Value& bias);
  static Number weighted_sum(std::span<const Number> a, std::span<const Number> b);
};

}  // namespace mx::moe
