#pragma once
// Numbers in bytes that are little endian on every processor: scales of four bytes, units of layouts, panels.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace mx::kernels {

/// Of a word of the processor the one whose bytes are little endian, and back.
template <std::unsigned_integral Word>
Word little_endian(Word word) {
  static_assert(sizeof word <= 4);
  if constexpr (std::endian::native == std::endian::little || sizeof word == 1) return word;
  if constexpr (sizeof word == 2) return __builtin_bswap16(word);
  if constexpr (sizeof word == 4) return __builtin_bswap32(word);
}

template <std::unsigned_integral Word>
Word load_little_endian(const std::uint8_t* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return little_endian(word);
}

template <std::unsigned_integral Word>
void store_little_endian(std::uint8_t* to, Word word) {
  word = little_endian(word);
  std::memcpy(to, &word, sizeof word);
}

}  // namespace mx::kernels
