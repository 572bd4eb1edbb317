#pragma once
// Values of codes and of fp32 patterns as MPFR numbers, set from integers; an operation that is not exact is a mistake of the caller.

#include <cstdint>

#include "tests/numerics/facts.hpp"
#include "tests/numerics/mpfr_number.hpp"

namespace mx::tests {

/// Bits that hold every value and every point between two of them that the proofs form.
inline constexpr long kExactBits = 64;

/// Value of a magnitude's code (no sign). Codes above the largest finite one continue the grid, as if the exponent range had no top.
void set_magnitude(mpfr_ptr number, const FormatFacts& facts, std::uint32_t code);

/// Value of a code that is no NaN, with its sign (also of a zero); infinities too.
void set_code(mpfr_ptr number, const FormatFacts& facts, std::uint32_t code);

/// Value of a finite positive fp32 pattern.
void set_f32(mpfr_ptr number, std::uint32_t pattern);

/// The point numerator / 2^bits of the way from a to b.
void set_between(mpfr_ptr number, mpfr_srcptr a, mpfr_srcptr b, std::uint64_t numerator, int bits);

}  // namespace mx::tests
