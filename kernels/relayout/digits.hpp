#pragma once
// A move as digits that both memories share: every element of the target is a combination of digit values, and its address on either side is a base
// plus one product per digit. Addresses count units of at most a byte.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/relayout/side.hpp"

namespace mx::kernels::relayout {

/// What one step of a digit adds to the sum that a limit bounds.
struct Share {
  std::size_t limit;
  std::int64_t weight;
};

struct SharedDigit {
  std::int64_t radix;
  std::int64_t source_stride;  ///< in units; negative where memory runs against the digit
  std::int64_t target_stride;
  std::vector<Share> shares;
};

/// Combinations of digits whose weighted sum is not below `limit` have no element: nothing is there (`absent`), or padding of the target.
struct Limit {
  std::int64_t limit;
  bool absent;
  std::uint8_t content;  ///< of padding: the byte
};

struct SharedDigits {
  int unit_bits;
  std::vector<SharedDigit> digits;
  std::vector<Limit> limits;  ///< of several that hold an absent one wins, else the last
  std::int64_t source_base = 0;
  std::int64_t target_base = 0;
  std::int64_t target_units = 0;          ///< of its memory
  std::vector<std::int64_t> source_word;  ///< memory unit of each unit of a word of neighbouring ones; empty: words are as they are
  std::vector<std::int64_t> target_word;
};

/// None when a split of one side falls across a digit of the other, and for grains that neither fill bytes nor divide them.
std::optional<SharedDigits> shared_digits(const Side& source, const Side& target);

}  // namespace mx::kernels::relayout
