#pragma once
// Whether a buffer is a tensor in its own order: rows padded, words with their bytes reversed. What a kernel gets when a step was left out.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "verbs/layout/identify/candidates.hpp"

namespace mx::verbs {

/// A buffer in the tensor's own order, changed by at least one of these.
struct PlainOrder {
  MatrixShape matrix;        ///< how the tensor was read
  std::int64_t rows;         ///< in the buffer; those behind the tensor's are padding
  std::int64_t row_bytes;    ///< from one row to the next
  int word = 1;              ///< bytes whose order is reversed
  bool swapped = false;      ///< the two units of each byte changed places
  std::string padding = {};  ///< what fills up: "zero", "0x7f", "no one byte"; empty: there is none

  /// "row-major, rows of 5 bytes padded to 8, 56 rows behind, padding zero: nothing is swizzled"
  std::string text() const;
};

/// Rows must be whole bytes. None where the buffer is the tensor byte for byte, or where all of its bytes are alike.
std::optional<PlainOrder> plain_order(std::span<const std::uint8_t> canonical, std::span<const MatrixShape> matrices,
                                      std::span<const std::uint8_t> packed);

}  // namespace mx::verbs
