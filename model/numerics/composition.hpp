#pragma once
// A conversion put together of choices that no named profile makes: what an infinity gives apart from a finite overflow, signs of zeros, and the
// flags that an IEEE 754 unit raises. IEEE 754's overflow (section 7.4) holds for every format here, also for those without Inf.

#include <cstdint>

#include "model/numerics/convert.hpp"

namespace mx {

/// What an infinite value gives.
enum class InfinityRule {
  as_overflow,  ///< what Conversion::overflow makes of it
  inf,
  nan,
  largest,  ///< the largest finite value, with the sign
  zero,     ///< with the sign
};

/// The sign of a zero result.
enum class SignOfZero {
  keep,
  positive,          ///< whatever is zero or becomes zero gives +0
  positive_if_zero,  ///< -0 gives +0, a negative number that rounds to zero gives -0
};

/// What a format without a sign makes of negative numbers.
enum class NegativeRule {
  magnitude,
  nan,
  zero,  ///< code 0; -Inf still follows InfinityRule
};

/// Which results are tiny, so that an inexact one underflows (IEEE 754 section 7.5).
enum class Tininess {
  before,  ///< the exact value is below the least normal number
  after,   ///< so is the value rounded as if the exponent had no bottom (x86, RISC-V)
  result,  ///< so is the number that is delivered (LLVM's APFloat, cvfpu)
};

/// Which results overflow.
enum class OverflowFlag {
  ieee,               ///< rounded as if the exponent had no top, it is above the largest number
  not_finite_result,  ///< a finite number became Inf or NaN (LLVM's APFloat)
};

/// `how` says rounding, overflow, NaN, the code of zero, random bits, flushing and what comes before; its negative_is_nan is not read.
struct Composition {
  Conversion how;
  bool log2_halves_away =
      false;  ///< E8M0, in the place of how.rounding: the power of two whose exponent is nearest to the fp32 logarithm, halves away from 0
  InfinityRule infinity = InfinityRule::as_overflow;
  SignOfZero zero_sign = SignOfZero::keep;
  NegativeRule negative = NegativeRule::magnitude;
  Tininess tininess = Tininess::after;
  OverflowFlag overflow_flag = OverflowFlag::ieee;

  friend bool operator==(const Composition&, const Composition&) = default;
};

/// The flags of IEEE 754 section 7 that a conversion can raise.
struct IeeeFlags {
  bool inexact = false;
  bool underflow = false;
  bool overflow = false;
  bool invalid = false;  ///< a signalling NaN was converted

  friend bool operator==(const IeeeFlags&, const IeeeFlags&) = default;
};

/// Code of a value. Throws as encode does, but that Overflow::ieee is defined for every format: a direction toward zero gives the largest number; any
/// other Inf, or NaN where there is no Inf, or the largest number where there is neither.
/// Source: IEEE 754-2019 sections 4.3, 7.4, 7.5; OCP MX 1.0 section 5.4 for E8M0, whose nearest roundings take ties up.
std::uint32_t compose(const Value& value, const Format& format, const Composition& composition, IeeeFlags& flags, Random random = {});

/// As compose, of a code of any source, wide or not (wide_source.hpp); a signalling NaN (IEEE 754 section 6.2.1: its top mantissa bit is 0) is
/// invalid.
std::uint32_t compose_from(std::uint64_t bits, const Format& from, const Format& to, const Composition& composition, IeeeFlags& flags,
                           Random random = {});

}  // namespace mx
