#pragma once
// The operations that each activation declares, typed in again one by one, each rounded once to fp32 by MPFR, which shares no code with the model:
// subnormals, infinities and NaNs included.

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>

#include "tests/numerics/mpfr_number.hpp"

namespace mx::tests {

inline constexpr IeeeRange kFp16Range{11, -23, 16};

/// fp32 numbers whose operators are MPFR's, exact or to 400 bits, rounded once to fp32.
class Single {
 public:
  explicit Single(float value) : bits_(std::bit_cast<std::uint32_t>(value)) {}
  static Single of(std::uint32_t pattern) { return Single(number(pattern)); }
  std::uint32_t pattern() const { return nan() ? 0x7FC00000U : bits_; }
  bool nan() const { return std::isnan(number(bits_)); }

  friend Single operator+(Single a, Single b) { return binary(mpfr_add, a, b); }
  friend Single operator*(Single a, Single b) { return binary(mpfr_mul, a, b); }
  friend Single operator/(Single a, Single b) { return binary(mpfr_div, a, b); }
  friend Single operator-(Single a) { return Single(-number(a.bits_)); }
  friend Single exp(Single a) { return unary(mpfr_exp, a); }
  friend Single log1p(Single a) { return unary(mpfr_log1p, a); }
  friend Single tanh(Single a) { return unary(mpfr_tanh, a); }
  friend Single erf(Single a) { return unary(mpfr_erf, a); }
  friend Single sqrt(Single a) { return unary(mpfr_sqrt, a); }
  friend Single fma(Single a, Single b, Single c) {
    MpfrNumber x(24), y(24), z(24), result(2000);
    mpfr_set_flt(x.get(), number(a.bits_), MPFR_RNDN);
    mpfr_set_flt(y.get(), number(b.bits_), MPFR_RNDN);
    mpfr_set_flt(z.get(), number(c.bits_), MPFR_RNDN);
    mpfr_fma(result.get(), x.get(), y.get(), z.get(), MPFR_RNDN);
    return rounded(result, kF32Range);
  }
  /// Rounded to a smaller type.
  Single in(const IeeeRange& range) const {
    MpfrNumber x(24);
    mpfr_set_flt(x.get(), number(bits_), MPFR_RNDN);
    return rounded(x, range);
  }
  friend bool operator<(Single a, Single b) { return number(a.bits_) < number(b.bits_); }

 private:
  static float number(std::uint32_t pattern) { return std::bit_cast<float>(pattern); }

  template <typename Operation>
  static Single binary(Operation operation, Single a, Single b) {
    MpfrNumber x(24), y(24), result(700);
    mpfr_set_flt(x.get(), number(a.bits_), MPFR_RNDN);
    mpfr_set_flt(y.get(), number(b.bits_), MPFR_RNDN);
    operation(result.get(), x.get(), y.get(), MPFR_RNDN);
    return rounded(result, kF32Range);
  }
  template <typename Function>
  static Single unary(Function function, Single a) {
    MpfrNumber x(24), result(400);
    mpfr_set_flt(x.get(), number(a.bits_), MPFR_RNDN);
    function(result.get(), x.get(), MPFR_RNDN);
    return rounded(result, kF32Range);
  }
  static Single rounded(MpfrNumber& exact, const IeeeRange& range) {
    return of(mpfr_nan_p(exact.get()) != 0 ? 0x7FC00000U : rounded_bits(exact.get(), range));
  }

  std::uint32_t bits_;
};

/// Constants and type of one evaluation.
struct FormulaSetting {
  Single alpha, beta, limit, linear_beta;
  IeeeRange type;
  Single t(Single x) const { return x.in(type); }
};

Single sg(Single x);       ///< 1 / (1 + exp(-x))
Single silu_of(Single x);  ///< x / (1 + exp(-x))

using Formula = Single (*)(Single gate, Single up, const FormulaSetting& c);

/// The rows of activations once more, by name.
const std::map<std::string_view, Formula>& activation_formulas();

}  // namespace mx::tests
