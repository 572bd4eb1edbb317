#pragma once
// numpy's array files, read within bounds. Source: numpy/lib/format.py, formats 1.0 to 3.0.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mx::support {

/// An array as its head describes it: C order, little-endian, elements of 1 to 8 bytes.
struct NpyArray {
  char kind;                        ///< 'f', 'i', 'u', 'V'
  std::size_t width;                ///< bytes of an element
  std::vector<std::int64_t> shape;  ///< empty: one number
  std::span<const std::uint8_t> bytes;

  /// "float32", "2-byte void": as numpy calls it.
  std::string type() const;
};

/// A view of the file's bytes. Throws Error(input) naming `where` for a file that is no such array, as long as its shape says; Error(usage) for more
/// than `most` elements.
NpyArray npy_array(std::span<const std::uint8_t> file, std::uint64_t most, const std::string& where);

/// A whole file; `descr` as numpy writes it: "<f4".
std::vector<std::uint8_t> npy_bytes(std::string_view descr, std::span<const std::int64_t> shape, std::span<const std::uint8_t> elements);

}  // namespace mx::support
