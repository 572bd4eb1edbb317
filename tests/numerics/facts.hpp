#pragma once
// A second definition of the formats, sharing nothing with the model: parameters typed in from the documents, values as doubles (exact for
// all of them).

#include <cstdint>
#include <string_view>
#include <vector>

namespace mx::tests {

/// A row of the table of formats (OFP8 1.0 table 1, MX 1.0 table 1, IEEE 754).
struct FormatFacts {
  std::string_view name;
  int width;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint32_t max_code;
  double max_value;
  double min_normal;
  double min_value;  ///< smallest positive
  bool has_inf;
  bool has_nan;
  bool has_sign;
  bool has_negative_zero;
};

const std::vector<FormatFacts>& all_facts();

/// Value of a code that is no NaN; infinities as doubles.
double value_of(const FormatFacts& facts, std::uint32_t code);
bool is_nan_by_facts(const FormatFacts& facts, std::uint32_t code);
/// The NaN that an overflow gives: quiet, with the sign where the format has signed NaNs. Formats with NaN only.
std::uint32_t overflow_nan_by_facts(const FormatFacts& facts, bool negative);
/// Code of a magnitude's code with a sign. Formats without a sign take the magnitude.
std::uint32_t signed_code(const FormatFacts& facts, std::uint32_t magnitude, bool negative);

}  // namespace mx::tests
