#pragma once
// The bit scatter of 4 bytes into a 32-bit word, as the document tabulates it.

#include <array>
#include <cstdint>

#include "tests/layout/formula.hpp"

namespace mx::test {

/// Bits of a byte's low nibble, highest first; the high nibble's are 16 above.
inline constexpr std::array<std::array<int, 4>, 4> kScatter{{{15, 8, 7, 6}, {12, 5, 4, 3}, {9, 2, 1, 0}, {14, 11, 10, 13}}};

/// Appends the 32 bits of a word whose bytes have these numbers, or are padding.
inline void append_fp4word(Map& bits, const std::array<std::int64_t, 4>& bytes) {
  const std::size_t base = bits.size();
  bits.resize(base + 32);
  for (std::size_t byte = 0; byte < 4; ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      const int place = kScatter[byte][static_cast<std::size_t>(3 - bit % 4)] + (bit < 4 ? 0 : 16);
      bits[base + static_cast<std::size_t>(place)] = bytes[byte] < 0 ? bytes[byte] : 8 * bytes[byte] + bit;
    }
  }
}

}  // namespace mx::test
