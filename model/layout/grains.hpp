#pragma once
// Tensors as rows of grains of 1 to 64 bits, the first grain in the lowest bits of the first byte.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "model/layout/cast.hpp"
#include "model/layout/layout.hpp"

namespace mx::layout {

/// Whether grains never cross from one byte into the next.
inline bool divides_byte(std::size_t width) { return width == 1 || width == 2 || width == 4; }

/// Grain number `index` of `bits` bits.
inline std::uint64_t get_grain(std::span<const std::uint8_t> bytes, std::int64_t index, int bits) {
  const auto i = static_cast<std::size_t>(index);
  const auto width = static_cast<std::size_t>(bits);
  if (width == 8) return bytes[i];
  std::uint64_t value = 0;
  if (width % 8 == 0) {
    for (std::size_t b = width / 8; b-- > 0;) value = value << 8 | bytes[i * (width / 8) + b];
    return value;
  }
  const std::size_t begin = i * width;
  if (divides_byte(width)) return std::uint64_t{bytes[begin / 8]} >> (begin % 8) & ((1U << width) - 1);
  for (std::size_t b = width; b-- > 0;) value = value << 1 | ((std::uint64_t{bytes[(begin + b) / 8]} >> ((begin + b) % 8)) & 1U);
  return value;
}

/// Sets grain number `index` to the low `bits` bits of `value`.
inline void set_grain(std::span<std::uint8_t> bytes, std::int64_t index, int bits, std::uint64_t value) {
  const auto i = static_cast<std::size_t>(index);
  const auto width = static_cast<std::size_t>(bits);
  if (width % 8 == 0) {
    for (std::size_t b = 0; b < width / 8; ++b) bytes[i * (width / 8) + b] = static_cast<std::uint8_t>(value >> (8 * b));
    return;
  }
  const auto replace = [&](std::size_t position, unsigned mask, std::uint64_t part) {
    std::uint8_t& byte = bytes[position / 8];
    byte = static_cast<std::uint8_t>((byte & ~(mask << position % 8)) | (part & mask) << position % 8);
  };
  const std::size_t begin = i * width;
  if (divides_byte(width)) return replace(begin, (1U << width) - 1, value);
  for (std::size_t b = 0; b < width; ++b) replace(begin + b, 1, value >> b);
}

/// Copies `count` grains of `bits` bits from number `first` of `from` to number `at` of `to`: whole bytes where both begin on one.
inline void copy_grains(std::span<const std::uint8_t> from, std::int64_t first, std::span<std::uint8_t> to, std::int64_t at, std::int64_t count,
                        int bits) {
  std::int64_t done = 0;
  if (count * bits >= 8 && first * bits % 8 == 0 && at * bits % 8 == 0) {
    const std::int64_t in_whole_bytes = 8 / std::gcd(bits, 8);
    done = count - count % in_whole_bytes;
    const auto source = from.begin() + first * bits / 8;
    std::copy(source, source + done * bits / 8, to.begin() + at * bits / 8);
  }
  for (; done < count; ++done) set_grain(to, at + done, bits, get_grain(from, first + done, bits));
}

/// What a padded position holds; `entry` is one of Layout's kPad codes. An unwritten one holds its part of the byte `poison`.
std::uint64_t pad_grain(std::int64_t entry, std::int64_t address, int bits, std::uint8_t poison);

/// Logical elements of a tensor in row-major order, those that the layout drops being 0.
struct HeldUnits {
  std::vector<std::uint8_t> bytes;
  std::int64_t count;  ///< of the elements that are there
};
/// Reads what the memory holds. Throws Error(input) when the bytes do not fit the layout or the copies of an element differ.
HeldUnits held_row_major(const Layout& from, std::span<const std::uint8_t> bytes);

/// The same for a layout that holds every element. Throws Error(usage) when it drops some.
std::vector<std::uint8_t> to_row_major(const Layout& from, std::span<const std::uint8_t> bytes);

/// The memory of a layout whose logical elements are given in row-major order; unwritten bytes become `poison`.
std::vector<std::uint8_t> from_row_major(const Layout& to, std::span<const std::uint8_t> row_major, std::uint8_t poison);
/// The same of units that go through a cast first: grains of cast.from_bits.
std::vector<std::uint8_t> from_row_major(const Layout& to, std::span<const std::uint8_t> row_major, const Cast& cast, std::uint8_t poison);

}  // namespace mx::layout
