#include "model/numerics/p3109_functions.hpp"

#include <array>
#include <utility>

namespace mx::p3109 {
namespace {

bool is_nan(const Real& x) { return x.cls == ValueClass::nan; }
bool is_infinite(const Real& x) { return x.cls == ValueClass::infinity; }
bool below(const Real& a, const Real& b) { return compare(a, b) < 0; }
const Real& smaller(const Real& a, const Real& b) { return below(b, a) ? b : a; }
const Real& larger(const Real& a, const Real& b) { return below(a, b) ? b : a; }

using Choice = const Real& (*)(const Real&, const Real&);

/// NaN wins.
template <Choice Chosen>
Real of_all(const Operands& x) {
  return is_nan(x[0]) || is_nan(x[1]) ? nan_real() : Chosen(x[0], x[1]);
}
/// A number wins over a NaN.
template <Choice Chosen>
Real of_numbers(const Operands& x) {
  if (is_nan(x[0])) return x[1];
  return is_nan(x[1]) ? x[0] : Chosen(x[0], x[1]);
}
/// A finite number wins over an infinity, which wins over a NaN.
template <Choice Chosen>
Real of_finite(const Operands& x) {
  if (is_nan(x[0]) || is_nan(x[1])) return of_numbers<Chosen>(x);
  if (is_infinite(x[0]) != is_infinite(x[1])) return is_infinite(x[0]) ? x[1] : x[0];
  return Chosen(x[0], x[1]);
}

/// By magnitude; of equal ones the number that is smaller, or larger.
const Real& smaller_magnitude(const Real& a, const Real& b) {
  const auto order = compare(absolute(a), absolute(b));
  return order == 0 ? smaller(a, b) : order < 0 ? a : b;
}
const Real& larger_magnitude(const Real& a, const Real& b) {
  const auto order = compare(absolute(a), absolute(b));
  return order == 0 ? larger(a, b) : order > 0 ? a : b;
}

const Real& one() {
  static const Real kOne = real_of({.significand = 1, .exponent = 0, .cls = ValueClass::finite, .negative = false});
  return kOne;
}

Real with_sign_of(const Operands& x) {
  if (is_nan(x[0]) || is_nan(x[1])) return nan_real();
  return x[1].negative ? negated(absolute(x[0])) : absolute(x[0]);
}

/// Bounds that are out of order, and infinite ones at the wrong end, are NaN.
Real clamped(const Operands& x) {
  const auto& [number, low, high] = x;
  if (is_nan(number) || is_nan(low) || is_nan(high) || below(high, low)) return nan_real();
  const bool same = compare(low, high) == 0;
  if (same && is_infinite(low)) return low;
  return below(number, low) ? low : below(high, number) ? high : number;
}

Real hypotenuse(const Operands& x) {
  if (is_nan(x[0]) || is_nan(x[1])) return nan_real();
  return square_root(sum(product(x[0], x[0]), product(x[1], x[1])));
}

constexpr std::array kFunctions{
    Function{"Convert", 1, [](const Operands& x) { return x[0]; }, true, false},
    Function{"Abs", 1, [](const Operands& x) { return absolute(x[0]); }, true, false},
    Function{"Negate", 1, [](const Operands& x) { return negated(x[0]); }, true, false},
    Function{"CopySign", 2, with_sign_of, false, false},
    Function{"Add", 2, [](const Operands& x) { return sum(x[0], x[1]); }, true, true},
    Function{"Subtract", 2, [](const Operands& x) { return sum(x[0], negated(x[1])); }, true, true},
    Function{"Multiply", 2, [](const Operands& x) { return product(x[0], x[1]); }, true, true},
    Function{"Divide", 2, [](const Operands& x) { return quotient(x[0], x[1]); }, false, false},
    Function{"FMA", 3, [](const Operands& x) { return sum(product(x[0], x[1]), x[2]); }, true, false},
    Function{"FAA", 3, [](const Operands& x) { return sum(sum(x[0], x[1]), x[2]); }, true, false},
    Function{"Sqrt", 1, [](const Operands& x) { return square_root(x[0]); }, false, false},
    Function{"Recip", 1, [](const Operands& x) { return quotient(one(), x[0]); }, true, false},
    Function{"RSqrt", 1, [](const Operands& x) { return x[0].negative ? nan_real() : square_root(quotient(one(), x[0])); }, false, false},
    Function{"Hypot", 2, hypotenuse, false, false},
    Function{"Minimum", 2, of_all<smaller>, true, false},
    Function{"Maximum", 2, of_all<larger>, true, false},
    Function{"MinimumNumber", 2, of_numbers<smaller>, true, false},
    Function{"MaximumNumber", 2, of_numbers<larger>, true, false},
    Function{"MinimumMagnitude", 2, of_all<smaller_magnitude>, true, false},
    Function{"MaximumMagnitude", 2, of_all<larger_magnitude>, true, false},
    Function{"MinimumMagnitudeNumber", 2, of_numbers<smaller_magnitude>, true, false},
    Function{"MaximumMagnitudeNumber", 2, of_numbers<larger_magnitude>, true, false},
    Function{"MinimumFinite", 2, of_finite<smaller>, true, false},
    Function{"MaximumFinite", 2, of_finite<larger>, true, false},
    Function{"Clamp", 3, clamped, false, false},
};

bool comparable(const Real& a, const Real& b) { return !is_nan(a) && !is_nan(b); }

constexpr std::array kComparisons{
    Comparison{"CompareLess", [](const Real& a, const Real& b) { return comparable(a, b) && compare(a, b) < 0; }, true},
    Comparison{"CompareLessEqual", [](const Real& a, const Real& b) { return comparable(a, b) && compare(a, b) <= 0; }, true},
    Comparison{"CompareEqual", [](const Real& a, const Real& b) { return comparable(a, b) && compare(a, b) == 0; }, true},
    Comparison{"CompareGreaterEqual", [](const Real& a, const Real& b) { return comparable(a, b) && compare(a, b) >= 0; }, true},
    Comparison{"CompareGreater", [](const Real& a, const Real& b) { return comparable(a, b) && compare(a, b) > 0; }, true},
    Comparison{"TotalOrder", [](const Real& a, const Real& b) { return is_nan(a) || (!is_nan(b) && compare(a, b) <= 0); }, false},
};

}  // namespace

std::span<const Function> functions() { return kFunctions; }
std::span<const Comparison> comparisons() { return kComparisons; }

Real maximum_finite(const Real& a, const Real& b) { return of_finite<larger>({a, b, Real{}}); }

}  // namespace mx::p3109
