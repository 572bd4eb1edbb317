#pragma once
// Conversions that differ from the one under test in one choice, or in two: what `ver` tries on wrong answers before it says which rules fit.

#include <cstdint>
#include <span>
#include <vector>

#include "golden/vectors/op.hpp"
#include "model/numerics/convert.hpp"

namespace mx::golden {

/// Codes that a device gave for a NaN: without its sign, and with it.
struct NanCodes {
  std::uint32_t positive, negative;
};

/// Those that the wrong answers show, each once. `is_nan`: whether a vector is about a NaN, and of which sign; none: it is not.
std::vector<NanCodes> nan_codes_of(std::span<const WrongAnswer> wrong, const Conversion& how,
                                   const std::function<std::optional<bool>(const WrongAnswer&)>& is_nan);

/// A conversion with so many choices other than those of the one under test.
struct OtherChoices {
  int choices;
  Conversion how;
};

/// Every conversion into `to` with one choice other than `how`, then with two, each once. Choices: rounding, overflow, infinities, NaN (`seen` beside
/// what rules name), sign of zero, flushing, what a format without a sign or a zero makes of them; `ieee_flags`: tininess and the flag of overflow.
/// A stochastic rounding stays. A conversion that `to` cannot have is none of them.
std::vector<OtherChoices> other_choices(const Format& to, const Conversion& how, bool ieee_flags, std::span<const NanCodes> seen);

}  // namespace mx::golden
