#include "model/numerics/operation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/comparison.hpp"
#include "model/numerics/exact_sum.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::array kOperations{OperationRow{Operation::add, "add", 2},
                                 OperationRow{Operation::subtract, "sub", 2},
                                 OperationRow{Operation::multiply, "mul", 2},
                                 OperationRow{Operation::fma, "fma", 3},
                                 OperationRow{Operation::divide, "div", 2},
                                 OperationRow{Operation::square_root, "sqrt", 1},
                                 OperationRow{Operation::minimum, "minimum", 2},
                                 OperationRow{Operation::maximum, "maximum", 2},
                                 OperationRow{Operation::minimum_number, "minimum-number", 2},
                                 OperationRow{Operation::maximum_number, "maximum-number", 2}};

constexpr Value kNan{0, 0, ValueClass::nan, false};

bool is_zero(const Value& value) { return value.cls == ValueClass::zero; }
bool is_infinite(const Value& value) { return value.cls == ValueClass::infinity; }
bool is_nan(const Value& value) { return value.cls == ValueClass::nan; }

Value negated(Value value) {
  value.negative = !value.negative;
  return value;
}

/// The result before it is rounded: exact, or with 40 bits and more of which the last one is set when anything lies below. Any rounding of such a
/// value into 24 bits is that of the exact one.
struct Exact {
  Value value;
  bool invalid = false;
  bool divides_by_zero = false;
};

constexpr Exact kNoAnswer{kNan, true, false};

/// p + c, where p may be a product of two: an exact zero of unlike signs has the sign that the rounding gives.
Exact sum(const ExactSum& total, const Value& p, const Value& c, Rounding rounding) {
  if (is_infinite(p) && is_infinite(c) && p.negative != c.negative) return kNoAnswer;
  Value value = total.leading_bits();
  if (is_zero(value))
    value.negative = p.negative == c.negative ? p.negative : rounding == Rounding::toward_negative && !planted(Fault::zero_sum_is_positive);
  return {value};
}

Exact added(const Value& a, const Value& b, Rounding rounding) {
  if (is_nan(a) || is_nan(b)) return {kNan};
  ExactSum total;
  total.add(a);
  total.add(b);
  return sum(total, a, b, rounding);
}

Exact multiplied(const Value& a, const Value& b) {
  const bool none = (is_zero(a) && is_infinite(b)) || (is_infinite(a) && is_zero(b));
  if (none) return kNoAnswer;
  return {is_nan(a) || is_nan(b) ? kNan : exact_product(a, b)};
}

Exact fused(const Value& a, const Value& b, const Value& c, Rounding rounding) {
  const Exact product = multiplied(a, b);
  if (product.invalid) return kNoAnswer;
  if (is_nan(product.value) || is_nan(c)) return {kNan};
  ExactSum total;
  total.add_product(a, b);
  total.add(c);
  return sum(total, product.value, c, rounding);
}

Exact divided(const Value& a, const Value& b) {
  if (is_nan(a) || is_nan(b)) return {kNan};
  const bool negative = a.negative != b.negative;
  if ((is_zero(a) && is_zero(b)) || (is_infinite(a) && is_infinite(b))) return kNoAnswer;
  if (is_infinite(a)) return {{0, 0, ValueClass::infinity, negative}};
  if (is_zero(b)) return {{0, 0, ValueClass::infinity, negative}, false, true};
  if (is_zero(a) || is_infinite(b)) return {{0, 0, ValueClass::zero, negative}};
  // Significands have up to 24 bits: the quotient of one that begins at bit 63 has 40 and more.
  const int shift = std::countl_zero(a.significand);
  const std::uint64_t top = a.significand << shift, quotient = top / b.significand;
  const std::uint64_t sticky = top % b.significand == 0 ? 0U : 1U;
  return {{quotient | sticky, a.exponent - shift - b.exponent, ValueClass::finite, negative}};
}

/// The largest integer whose square is not above n, n below 2^62.
std::uint64_t root_of(std::uint64_t n) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 30; bit != 0; bit >>= 1) {
    if ((root | bit) * (root | bit) <= n) root |= bit;
  }
  return root;
}

Exact root(const Value& a) {
  if (is_nan(a) || is_zero(a)) return {a.cls == ValueClass::nan ? kNan : a};
  if (a.negative) return kNoAnswer;
  if (is_infinite(a)) return {a};
  int shift = std::countl_zero(a.significand) - 2;
  if ((a.exponent - shift) % 2 != 0) --shift;
  const std::uint64_t n = a.significand << shift, whole = root_of(n);
  const std::uint64_t sticky = whole * whole == n ? 0U : 1U;
  // One bit more: the sticky one lies below all 30 of the root.
  return {{whole << 1 | sticky, (a.exponent - shift) / 2 - 1, ValueClass::finite, false}};
}

/// Whether a lies below b; -0 below +0.
bool is_below(const Value& a, const Value& b) {
  if (is_zero(a) && is_zero(b)) return a.negative && !b.negative;
  return relation(a, b) == Relation::less;
}

Exact chosen(const Value& a, const Value& b, bool larger, bool number_wins) {
  if (is_nan(a) || is_nan(b)) return {!number_wins || (is_nan(a) && is_nan(b)) ? kNan : is_nan(a) ? b : a};
  return {is_below(a, b) != larger ? a : b};
}

Exact result_of(Operation operation, const std::array<Value, 3>& x, Rounding rounding) {
  switch (operation) {
    case Operation::add: return added(x[0], x[1], rounding);
    case Operation::subtract: return added(x[0], negated(x[1]), rounding);
    case Operation::multiply: return multiplied(x[0], x[1]);
    case Operation::fma: return fused(x[0], x[1], x[2], rounding);
    case Operation::divide: return divided(x[0], x[1]);
    case Operation::square_root: return root(x[0]);
    case Operation::minimum: return chosen(x[0], x[1], false, false);
    case Operation::maximum: return chosen(x[0], x[1], true, false);
    case Operation::minimum_number: return chosen(x[0], x[1], false, true);
    case Operation::maximum_number: break;
  }
  return chosen(x[0], x[1], true, true);
}

}  // namespace

std::span<const OperationRow> all_operations() { return kOperations; }

const OperationRow& operation_named(std::string_view name) { return rows::named(kOperations, "operation", name); }

std::uint32_t operate(Operation operation, std::span<const std::uint32_t> codes, std::span<const Format* const> from, const Format& to,
                      const Conversion& how, IeeeFlags& flags, Random random) {
  const auto row = std::ranges::find(kOperations, operation, &OperationRow::operation);
  for (const std::size_t count : {codes.size(), from.size()}) {
    if (std::cmp_not_equal(count, row->operands))
      throw Error(ErrorCode::usage, std::to_string(count) + " operands: " + std::string(row->name) + " has " + std::to_string(row->operands));
  }
  std::array<Value, 3> x{};
  bool signalling = false;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    x[i] = decode(*from[i], codes[i]);
    signalling |= is_signalling(codes[i], *from[i]);
  }
  const Exact exact = result_of(operation, x, how.rounding);
  const std::uint32_t code = encode_ieee(exact.value, to, how, flags, random);
  flags.invalid |= exact.invalid || signalling;
  flags.divide_by_zero |= exact.divides_by_zero;
  return code;
}

}  // namespace mx
