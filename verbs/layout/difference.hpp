#pragma once
// Where two layouts of one tensor part.

#include <cstdint>
#include <string>
#include <vector>

#include "verbs/layout/subject.hpp"

namespace mx::verbs {

/// Neighbouring addresses at which they hold different things: neighbours in both, or padding in both.
struct Difference {
  std::int64_t address;
  std::int64_t count;
  std::string a;  ///< at the first address: element or padding, in words; "behind the end"
  std::string b;
};

struct LayoutDifference {
  std::string values;          ///< how the values differ, "" when they are kept or cast alike; then no addresses are compared
  int grain_bits = 0;          ///< of an address: the finer of the two
  std::int64_t addresses = 0;  ///< of the longer memory
  std::int64_t differing = 0;
  std::vector<Difference> first;      ///< at most `most` runs
  std::vector<layout::Digit> only_a;  ///< digits that the other lacks, of layouts that have a digit form
  std::vector<layout::Digit> only_b;

  bool equal() const { return values.empty() && differing == 0; }
};

/// Holds the maps of two layouts against each other. Throws Error(usage) unless both take tensors of the same extents.
LayoutDifference difference(const Subject& a, const Subject& b, std::size_t most);

}  // namespace mx::verbs
