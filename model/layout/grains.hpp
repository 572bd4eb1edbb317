#pragma once
// Tensors as rows of grains of 1 to 64 bits, the first grain in the lowest bits of the first byte.

#include <cstdint>
#include <span>
#include <vector>

#include "model/layout/layout.hpp"

namespace mx::layout {

/// Grain number `index` of `bits` bits.
inline std::uint64_t get_grain(std::span<const std::uint8_t> bytes, std::int64_t index, int bits) {
  const auto i = static_cast<std::size_t>(index);
  if (bits == 4) return (std::uint64_t{bytes[i / 2]} >> (i % 2 * 4)) & 0xFU;
  if (bits == 8) return bytes[i];
  std::uint64_t value = 0;
  const std::size_t width = static_cast<std::size_t>(bits);
  if (width % 8 == 0) {
    for (std::size_t b = width / 8; b-- > 0;) value = value << 8 | bytes[i * (width / 8) + b];
    return value;
  }
  for (std::size_t b = width; b-- > 0;) value = value << 1 | ((std::uint64_t{bytes[(i * width + b) / 8]} >> ((i * width + b) % 8)) & 1U);
  return value;
}

/// Sets grain number `index` to the low `bits` bits of `value`.
inline void set_grain(std::span<std::uint8_t> bytes, std::int64_t index, int bits, std::uint64_t value) {
  const auto i = static_cast<std::size_t>(index);
  const std::size_t width = static_cast<std::size_t>(bits);
  if (width % 8 == 0) {
    for (std::size_t b = 0; b < width / 8; ++b) bytes[i * (width / 8) + b] = static_cast<std::uint8_t>(value >> (8 * b));
    return;
  }
  if (width == 4) {
    const auto shift = static_cast<unsigned>(i % 2 * 4);
    bytes[i / 2] = static_cast<std::uint8_t>((bytes[i / 2] & ~(0xFU << shift)) | ((value & 0xFU) << shift));
    return;
  }
  for (std::size_t b = 0; b < width; ++b) {
    const std::size_t position = i * width + b;
    const auto mask = static_cast<std::uint8_t>(1U << (position % 8));
    bytes[position / 8] = static_cast<std::uint8_t>((value >> b & 1U) != 0 ? bytes[position / 8] | mask : bytes[position / 8] & ~mask);
  }
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

/// The memory of a layout whose logical elements are given in row-major order as grains of `source_bits`, each passed through `cast`.
std::vector<std::uint8_t> from_row_major(const Layout& to, std::span<const std::uint8_t> row_major, int source_bits,
                                         std::uint64_t (*cast)(std::uint64_t), std::uint8_t poison);

}  // namespace mx::layout
