#pragma once
// A second definition of the formats, sharing nothing with the model: parameters typed in from the documents, values as doubles (exact for
// all of them), and encoding by search among the values of all codes instead of by bit arithmetic.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/convert.hpp"

namespace mx::test {

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
const FormatFacts& facts_of(const Format& format);

/// Value of a code that is no NaN; infinities as doubles.
double value_of(const FormatFacts& facts, std::uint32_t code);
bool is_nan_by_facts(const FormatFacts& facts, std::uint32_t code);

/// Encodes by search: the two neighbours of |x| among the format's values, the midpoint compared exactly.
class SearchEncoder {
 public:
  explicit SearchEncoder(const FormatFacts& facts);
  std::uint32_t encode(double x, const Conversion& how) const;

 private:
  std::size_t rounded(double magnitude, bool negative, Rounding rounding) const;
  std::uint32_t signed_code(std::uint32_t magnitude, bool negative) const;
  std::uint32_t overflowed(bool infinite, bool negative, const Conversion& how) const;

  const FormatFacts& facts_;
  std::vector<double> values_;  ///< of the codes 0 to max_code, and the next point of an unbounded grid
};

/// The value of fp32 bits.
double f32_value(std::uint32_t bits);

/// fp32 patterns where encoders go wrong: every value of the format, every midpoint of neighbours, their fp32 neighbours, zeros, infinities,
/// NaNs, the ends of the fp32 range; both signs.
std::vector<std::uint32_t> boundary_patterns(const FormatFacts& facts);

/// Every conversion into a format that FORMAT's words allow, with distinct codes for NaNs so that a mix-up shows.
std::vector<Conversion> all_conversions(const FormatFacts& facts);

/// Counts comparisons and remembers the first that failed.
class Comparison {
 public:
  template <typename Describe>
  void expect(bool holds, const Describe& describe) {
    ++count;
    if (holds) return;
    if (failures++ == 0) first = describe();
  }
  std::uint64_t count = 0;
  std::uint64_t failures = 0;
  std::string first;
};

std::string hex(std::uint64_t bits);
std::string text_of(const Conversion& how);

}  // namespace mx::test
