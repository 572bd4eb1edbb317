#pragma once
// A column of a table, as a table of its own.

#include <array>
#include <cstddef>

namespace mx {

/// The member `of` of each row, in the rows' order: column_of(kRows, &Row::name).
template <class Row, std::size_t kRows, class Value>
constexpr std::array<Value, kRows> column_of(const std::array<Row, kRows>& rows, Value Row::*of) {
  std::array<Value, kRows> column{};
  for (std::size_t i = 0; i < kRows; ++i) column[i] = rows[i].*of;
  return column;
}

}  // namespace mx
