#include "model/moe/arithmetic.hpp"

#include "model/numerics/convert.hpp"
#include "model/numerics/exact_sum.hpp"

namespace mx::moe {
namespace {

/// fp32 or a wider sum into bf16: nearest even, overflow to Inf.
constexpr Conversion kIntoBf16{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC0, 0x7FC0, 0, false};

Value chained(std::span<const Value> a, std::span<const Value> b) {
  Value sum;
  for (std::size_t k = 0; k < a.size(); ++k) sum = wide::add(sum, wide::mul(a[k], b[k]));
  return sum;
}

}  // namespace

const ContractRow& F32Arithmetic::contract() const { return *contract_; }

std::uint32_t F32Arithmetic::from(const Value& value) { return value.cls == ValueClass::nan ? f32::kNan : to_f32(value); }

Value F32Arithmetic::value(std::uint32_t x) { return decode(kF32, x); }

PreparedOperand F32Arithmetic::prepared(Side side, const std::vector<Value>& values) const {
  return prepare(*contract_, side, Operand{.elements = values});
}

std::uint32_t F32Arithmetic::dot(const PreparedOperand& a, const PreparedOperand& b, const Value& bias) const {
  return mx::dot(*contract_, a, b, Addends{.c = {}, .bias = from(bias)});
}

std::uint32_t F32Arithmetic::weighted_sum(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) const {
  if (contract_->step == Step::exact) {
    ExactSum sum;
    for (std::size_t k = 0; k < a.size(); ++k) sum.add_product(value(a[k]), value(b[k]));
    return sum.to_f32();
  }
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum = f32::fma(a[k], b[k], sum);
  return sum;
}

std::uint32_t Bf16Arithmetic::from(const Value& value) { return F32Arithmetic::from(value); }

Value Bf16Arithmetic::value(std::uint32_t x) { return decode(kF32, x); }

std::uint32_t Bf16Arithmetic::rounded(std::uint32_t x) { return to_f32(convert(x, kF32, kBf16, kIntoBf16), kBf16); }

std::uint32_t Bf16Arithmetic::dot(const std::vector<Value>& a, const std::vector<Value>& b, const Value& bias) {
  ExactSum sum;
  for (std::size_t k = 0; k < a.size(); ++k) sum.add_product(a[k], b[k]);
  sum.add(bias);
  return to_f32(sum.round(kBf16, kIntoBf16), kBf16);
}

std::uint32_t Bf16Arithmetic::weighted_sum(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum = add(sum, mul(a[k], b[k]));
  return sum;
}

Value WideArithmetic::dot(const std::vector<Value>& a, const std::vector<Value>& b, const Value& bias) { return wide::add(chained(a, b), bias); }

Value WideArithmetic::weighted_sum(std::span<const Value> a, std::span<const Value> b) { return chained(a, b); }

}  // namespace mx::moe
