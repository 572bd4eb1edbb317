#pragma once
// Where the code of an fp32 input changes: derived from the documents' parameters in exact arithmetic (MPFR), sharing nothing with the model.

#include <cstdint>
#include <span>
#include <vector>

#include "tests/numerics/facts.hpp"

namespace mx::tests {

/// Direction of rounding, in words of its own.
enum class Direction {
  nearest_even,
  nearest_away,
  nearest_toward_zero,
  toward_zero,
  toward_positive,
  toward_negative,
  magnitude_up,  ///< E8M0: the next power of two unless exact
  nearest_up,    ///< E8M0: nearest, ties up, but everything above 2^-127 is at least 2^-126
  // With a random number r of n bits; f is the fraction of the way from one value of the format to the next. Away from zero iff:
  stochastic_floor,    ///< floor(f * 2^n) + r >= 2^n (gfloat StochasticFastest)
  stochastic_odd,      ///< floor(f * 2^(n+1)) + 2r + 1 >= 2^(n+1) (gfloat StochasticFast)
  stochastic_nearest,  ///< f * 2^n rounded to nearest even, + r >= 2^n (gfloat Stochastic)
  stochastic_add,      ///< floor(f * 2^a) + r >= 2^a, a = 23 - mantissa bits, whatever n is (amd_hip_fp8.h)
};

/// What a magnitude too large for the format and an infinity become.
enum class Excess {
  saturate,
  nan,
  inf,
  ieee,  ///< Inf, but the largest finite value where the direction points toward zero (IEEE 754-2019 section 7.4)
};

/// What a NaN becomes.
enum class NanCode {
  given,  ///< the codes that the mode names
  kept,   ///< sign, exponent all ones, the source's top mantissa bits, or 1 when these are 0
  quiet,  ///< sign, exponent all ones, the source's top mantissa bits and the topmost one set
};

/// One conversion from fp32.
struct Mode {
  Direction direction;
  Excess excess;
  bool before_rounding;     ///< every magnitude above the largest value is in excess, also one that rounds down to it
  bool negative_is_nan;     ///< formats without a sign: negative values give NaN instead of their magnitude
  std::uint32_t zero_code;  ///< formats without zero: the code of +-0
  NanCode nan;
  std::uint32_t nan_positive;  ///< the given code of a NaN with clear sign
  std::uint32_t nan_negative;
  int random_bits = 0;  ///< n and r of a stochastic direction
  std::uint32_t random = 0;
  bool flush_source = false;  ///< fp32 subnormals count as zeros
  bool flush_target = false;  ///< results below the format's smallest normal number become zeros
};

/// From this fp32 pattern on, up to the next step's, the output is `code`.
struct Step {
  std::uint32_t first;
  std::uint32_t code;

  friend bool operator==(const Step&, const Step&) = default;
};

/// Every place where the output changes, ascending over all 2^32 patterns; the first step is pattern 0, and neighbours have different codes.
std::vector<Step> thresholds(const FormatFacts& facts, const Mode& mode);

/// The code that a table of steps gives for a pattern.
std::uint32_t code_at(std::span<const Step> steps, std::uint32_t pattern);

}  // namespace mx::tests
