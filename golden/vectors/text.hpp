#pragma once
// Vectors as lines of hex: one line a vector, one field a column.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"

namespace mx::golden {

/// Appends the lanes of the columns, lower case, full width, `separator` between fields.
void append_fields(std::string& line, std::span<const Column> columns, Lanes lanes, char separator);

/// The fields of a line: separated by blanks, tabs or "_". `fields` is filled up to its size; the number of fields there are is returned.
std::size_t split_fields(std::string_view line, std::span<std::string_view> fields);

/// What is wrong with a field.
enum class FieldFault {
  none,
  not_hex,    ///< a character that is no hex digit
  undriven,   ///< x or z: what a simulator prints for a signal without a value
  too_long,   ///< more digits than the column has
  too_large,  ///< a bit set above the column's width
};
/// Lanes of one field; upper case and missing leading zeros are accepted.
FieldFault parse_field(std::string_view text, const Column& column, MutableLanes lanes);

/// "r:8", "elems:32x4"
std::string column_text(const Column& column);

}  // namespace mx::golden
