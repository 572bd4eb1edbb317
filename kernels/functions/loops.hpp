#pragma once
// The evaluation itself, in loops without branches that compilers turn into vectors of whatever the including file is compiled for: everything here
// is private to its file.
//
// Each formula is off by less than 2^-47 of its result (tens of roundings of 2^-53 and a series cut off below 2^-54). A result whose neighbours at
// 2^-44 of itself round to the same fp32 number is therefore the correctly rounded one; about one in 2^19 is in doubt. The proof over all 2^32 inputs
// (docs/proofs.md) holds this to the model.

#include "kernels/functions/evaluate.hpp"

namespace mx::kernels {
namespace {

constexpr double kLog2e = 0x1.71547652b82fep+0;
// ln 2 in two parts: the upper one has 32 bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kRound = 0x1.8p+52;  // added and subtracted: the nearest integer
constexpr double kWidth = 0x1p-44;

inline double number(uint32_t bits) { return static_cast<double>(__builtin_bit_cast(float, bits)); }
inline uint32_t float_bits(double value) { return __builtin_bit_cast(uint32_t, static_cast<float>(value)); }
inline uint64_t bits_of(double value) { return __builtin_bit_cast(uint64_t, value); }
inline double double_of(uint64_t bits) { return __builtin_bit_cast(double, bits); }
inline double magnitude(double value) { return double_of(bits_of(value) & ~(uint64_t{1} << 63)); }
inline double with_sign(double value, double sign) { return double_of(bits_of(value) | (bits_of(sign) & uint64_t{1} << 63)); }
/// A NaN becomes `low`.
inline double clamped(double x, double low, double high) {
  x = x > low ? x : low;
  return x < high ? x : high;
}

/// 2^k for a whole number k from -1022 to 1023.
inline double power(double k) { return double_of(bits_of(k + (kRound + 1023.0)) << 52); }

/// (e^r - 1) / r for |r| <= 0.35: its Taylor series.
inline double expm1_over(double r) {
  double sum = 1.0 / 87178291200.0;
  sum = sum * r + 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  return sum * r + 1.0;
}

inline double exp_of(double x) {
  const double within = clamped(x, -110.0, 100.0);
  const double k = (within * kLog2e + kRound) - kRound;
  const double r = (within - k * kLn2High) - k * kLn2Low;
  return power(k) * (1.0 + r * expm1_over(r));
}

inline double exp2_of(double x) {
  const double within = clamped(x, -160.0, 160.0);
  const double k = (within + kRound) - kRound;
  const double r = (within - k) * kLn2;
  return power(k) * (1.0 + r * expm1_over(r));
}

/// ln((1 + s) / (1 - s)) / s for |s| <= 0.1716: twice the series of the inverse hyperbolic tangent.
inline double log_over(double s) {
  const double z = s * s;
  double sum = 2.0 / 23.0;
  sum = sum * z + 2.0 / 21.0;
  sum = sum * z + 2.0 / 19.0;
  sum = sum * z + 2.0 / 17.0;
  sum = sum * z + 2.0 / 15.0;
  sum = sum * z + 2.0 / 13.0;
  sum = sum * z + 2.0 / 11.0;
  sum = sum * z + 2.0 / 9.0;
  sum = sum * z + 2.0 / 7.0;
  sum = sum * z + 2.0 / 5.0;
  sum = sum * z + 2.0 / 3.0;
  return sum * z + 2.0;
}

/// A positive normal number as m * 2^e with m from the square root of 1/2 up to that of 2.
struct Split {
  double m;
  double e;
};

inline Split split(double value) {
  constexpr uint64_t kRootHalf = 0x3FE6A09E667F3BCD;
  const uint64_t above = bits_of(value) - kRootHalf;
  const uint64_t exponent = above & 0xFFF0000000000000U;
  // The exponent, positive after adding 1023, as the low bits of a double near kRound.
  const double e = double_of(((exponent + (uint64_t{1023} << 52)) >> 52) | bits_of(0x1p52)) - (0x1p52 + 1023.0);
  return {double_of(bits_of(value) - exponent), e};
}

inline double log2_of(double x) {
  const Split parts = split(x);
  const double s = (parts.m - 1.0) / (parts.m + 1.0);
  return parts.e + s * log_over(s) * kLog2e;
}

inline double log1p_of(double x) {
  const double sum = 1.0 + x;
  const Split parts = split(sum);
  // Near 1 the sum has lost the low bits of x, which it does not need then: s comes from x itself.
  const bool near_one = parts.e == 0.0;
  const double above = near_one ? x : parts.m - 1.0;
  const double s = above / (2.0 + above);
  return parts.e * kLn2High + (parts.e * kLn2Low + s * log_over(s));
}

/// (1 - t) / (1 + t) with t = e^(-2 |x|), from 1 - t, which keeps its precision near 0.
inline double tanh_of(double x) {
  const double z = -2.0 * clamped(magnitude(x), 0.0, 20.0);
  const double k = (z * kLog2e + kRound) - kRound;
  const double r = (z - k * kLn2High) - k * kLn2Low;
  const double scale = power(k);
  const double q = (1.0 - scale) - scale * (r * expm1_over(r));
  return with_sign(q / (2.0 - q), x);
}

constexpr double kTwoBySqrtPi = 0x1.20dd750429b6dp+0;

inline double erf_of(double x, const double* coefficients) {
  const double size = clamped(magnitude(x), 0.0, 0x1.ffffffp+1);
  // Near 0 the series in x; elsewhere the table's, by the next lower multiple of 1/16.
  const double z = size * size;
  double near = 1.0 / 9360.0;
  near = near * -z + 1.0 / 1320.0;
  near = near * -z + 1.0 / 216.0;
  near = near * -z + 1.0 / 42.0;
  near = near * -z + 1.0 / 10.0;
  near = near * -z + 1.0 / 3.0;
  near = (near * -z + 1.0) * (size * kTwoBySqrtPi);
  const auto center = static_cast<int32_t>(size * 16.0);
  const double h = size - static_cast<double>(center) * 0.0625;
  double sum = 0;
  for (int32_t n = kErfTerms - 1; n >= 0; --n) sum = sum * h + coefficients[n * static_cast<int32_t>(kErfCenters) + center];
  // By masks: a conditional load would keep the loop from becoming vectors.
  const uint64_t is_near = size < 0.0625 ? ~uint64_t{0} : 0U;
  return with_sign(double_of((bits_of(near) & is_near) | (bits_of(sum) & ~is_near)), x);
}

/// Rounds, and doubts where the neighbours round differently or x is outside the domain.
inline void put(double value, bool inside, uint32_t& y, uint32_t& doubt) {
  y = float_bits(value);
  const uint32_t low = float_bits(value - value * kWidth);
  const uint32_t high = float_bits(value + value * kWidth);
  doubt = (low ^ high) | (inside ? 0U : 1U);
}

inline bool is_number(uint32_t x) { return (x & 0x7FFFFFFFU) <= 0x7F800000U; }

void exp_loop(const uint32_t* x, size_t count, const ErfTable&, uint32_t* y, uint32_t* doubt) {
  for (size_t i = 0; i < count; ++i) put(exp_of(number(x[i])), is_number(x[i]), y[i], doubt[i]);
}

void exp2_loop(const uint32_t* x, size_t count, const ErfTable&, uint32_t* y, uint32_t* doubt) {
  for (size_t i = 0; i < count; ++i) put(exp2_of(number(x[i])), is_number(x[i]), y[i], doubt[i]);
}

void log2_loop(const uint32_t* x, size_t count, const ErfTable&, uint32_t* y, uint32_t* doubt) {
  for (size_t i = 0; i < count; ++i) put(log2_of(number(x[i])), x[i] - 1U < 0x7F7FFFFFU, y[i], doubt[i]);
}

void log1p_loop(const uint32_t* x, size_t count, const ErfTable&, uint32_t* y, uint32_t* doubt) {
  for (size_t i = 0; i < count; ++i) {
    const bool inside = (x[i] & 0x7FFFFFFFU) < ((x[i] >> 31) != 0 ? 0x3F800000U : 0x7F800000U);
    put(log1p_of(number(x[i])), inside, y[i], doubt[i]);
    // The sum of -0 and 0 has lost its sign.
    y[i] |= (x[i] == 0x80000000U ? 0x80000000U : 0U);
  }
}

void tanh_loop(const uint32_t* x, size_t count, const ErfTable&, uint32_t* y, uint32_t* doubt) {
  for (size_t i = 0; i < count; ++i) put(tanh_of(number(x[i])), is_number(x[i]), y[i], doubt[i]);
}

void erf_loop(const uint32_t* x, size_t count, const ErfTable& table, uint32_t* y, uint32_t* doubt) {
  const double* const coefficients = table.coefficient;
  for (size_t i = 0; i < count; ++i) put(erf_of(number(x[i]), coefficients), is_number(x[i]), y[i], doubt[i]);
}

}  // namespace
}  // namespace mx::kernels
