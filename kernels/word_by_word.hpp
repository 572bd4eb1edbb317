#pragma once
// What functions from fp32 bits to words ask of their arguments before they write anything.

#include <cstdint>
#include <span>
#include <string_view>

namespace mx::kernels {

/// One of the two, with the word that errors have for its elements.
struct Words {
  std::string_view name;
  std::span<const std::uint32_t> words;
};

/// Error(usage) for sizes that differ, for memory that does not begin at a multiple of 4 bytes, and for memory that overlaps without being the same.
void require_word_by_word(const Words& from, const Words& to);

}  // namespace mx::kernels
