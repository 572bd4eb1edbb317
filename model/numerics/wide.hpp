#pragma once
// The yardstick's arithmetic: each operation on values is rounded once to 64 significant bits, nearest even, with no range limit that a computation
// on fp64 numbers could meet. Eleven bits more than fp64, so that a computation whose recorded twin ran in fp64 can be held against it within that
// twin's own error. Results are canonical (model/numerics/value.hpp), a NaN is positive. A result beyond 2^(+-2^30) throws Error(usage).

#include <cstdint>

#include "model/numerics/value.hpp"

namespace mx::wide {

/// Sums, products and quotients follow IEEE 754: NaN wins, Inf - Inf, 0 * Inf, 0 / 0 and Inf / Inf are NaN, x / 0 is Inf; x - x is +0.
Value add(const Value& a, const Value& b);
Value sub(const Value& a, const Value& b);
Value mul(const Value& a, const Value& b);
Value div(const Value& a, const Value& b);
/// Square root; of a negative number NaN, of -0 -0.
Value sqrt(const Value& x);
/// e^x and ln(1 + x), within 2^-60 of their value. e^x is Inf or +0 for |x| >= 2^30; ln(1 + x) of -1 is -Inf, below that NaN, of +-0 it is +-0.
Value exp(const Value& x);
Value log1p(const Value& x);

/// True when a < b; -0 equals +0; false when either is NaN.
bool less(const Value& a, const Value& b);
/// min and max that keep a NaN; of equal operands the first.
Value min(const Value& a, const Value& b);
Value max(const Value& a, const Value& b);

Value from_f64(std::uint64_t bits);  ///< the value of fp64 bits, exact
/// fp64 bits, nearest even, overflow to Inf; a NaN is 0x7FF8000000000000.
std::uint64_t to_f64(const Value& value);

}  // namespace mx::wide
