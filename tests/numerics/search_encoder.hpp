#pragma once
// Encoding by search among the values of all codes instead of by bit arithmetic. Shares the words of conversions with the model, and no code.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/convert.hpp"
#include "tests/numerics/facts.hpp"

namespace mx::tests {

const FormatFacts& facts_of(const Format& format);

/// Encodes by search: the two neighbours of |x| among the format's values, the midpoint compared exactly.
class SearchEncoder {
 public:
  explicit SearchEncoder(const FormatFacts& facts);
  std::uint32_t encode(double x, const Conversion& how) const;

 private:
  std::size_t rounded(double magnitude, bool negative, Rounding rounding) const;
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

}  // namespace mx::tests
