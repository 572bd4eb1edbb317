#include "golden/vectors/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/fault.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

constexpr std::uint8_t kNotHex = 0xFF;
constexpr std::array<std::uint8_t, 256> digit_table() {
  std::array<std::uint8_t, 256> table{};
  table.fill(kNotHex);
  for (std::uint8_t i = 0; i < 10; ++i) table['0' + i] = i;
  for (std::uint8_t i = 0; i < 6; ++i) table['a' + i] = table['A' + i] = static_cast<std::uint8_t>(10 + i);
  return table;
}
constexpr auto kDigitValues = digit_table();

bool is_separator(char c) { return c == ' ' || c == '\t' || c == '_'; }

/// The four bits of a column that a digit counted from the right holds.
std::uint32_t digit_of(const Column& column, Lanes lanes, int place) {
  std::uint32_t digit = 0;
  for (int bit = 0; bit < 4; ++bit) {
    const int at = 4 * place + bit;
    if (at >= column.width()) break;
    digit |= ((lanes[static_cast<std::size_t>(at / column.bits)] >> (at % column.bits)) & 1U) << bit;
  }
  return digit;
}

}  // namespace

void append_fields(std::string& line, std::span<const Column> columns, Lanes lanes, char separator) {
  for (const Column& column : columns) {
    if (!line.empty() && line.back() != '\n') line += separator;
    const std::size_t begin = line.size();
    line.resize(begin + static_cast<std::size_t>(column.digits()));
    char* out = line.data() + line.size();
    if (column.bits % 4 == 0) {
      for (int i = 0; i < column.lanes; ++i) {
        std::uint32_t lane = lanes[static_cast<std::size_t>(i)];
        for (int digit = 0; digit < column.bits / 4; ++digit, lane >>= 4U) *--out = kDigits[lane & 0xFU];
      }
    } else {
      for (int place = 0; place < column.digits(); ++place) *--out = kDigits[digit_of(column, lanes, place)];
    }
    lanes = lanes.subspan(static_cast<std::size_t>(column.lanes));
  }
}

std::size_t split_fields(std::string_view line, std::span<std::string_view> fields) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < line.size();) {
    if (is_separator(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && !is_separator(line[end])) ++end;
    if (count < fields.size()) fields[count] = line.substr(at, end - at);
    ++count;
    at = end;
  }
  return count;
}

FieldFault parse_field(std::string_view text, const Column& column, MutableLanes lanes) {
  if (text.size() > static_cast<std::size_t>(column.digits())) return FieldFault::too_long;
  std::ranges::fill(lanes, 0U);
  int place = 0;
  for (auto c = text.rbegin(); c != text.rend(); ++c, ++place) {
    const std::uint32_t digit = kDigitValues[static_cast<unsigned char>(*c)];
    if (digit == kNotHex && fault::planted(fault::Fault::checker_takes_undriven)) continue;
    if (digit == kNotHex) return std::string_view("xXzZ").find(*c) != std::string_view::npos ? FieldFault::undriven : FieldFault::not_hex;
    if (column.bits % 4 == 0) {
      lanes[static_cast<std::size_t>(4 * place / column.bits)] |= digit << (4 * place % column.bits);
      continue;
    }
    for (int bit = 0; bit < 4; ++bit) {
      const int at = 4 * place + bit;
      if (((digit >> bit) & 1U) == 0) continue;
      if (at >= column.width() && fault::planted(fault::Fault::checker_takes_too_large)) continue;
      if (at >= column.width()) return FieldFault::too_large;
      lanes[static_cast<std::size_t>(at / column.bits)] |= 1U << (at % column.bits);
    }
  }
  return FieldFault::none;
}

std::string column_text(const Column& column) {
  return column.lanes == 1 ? fmt::format("{}:{}", column.name, column.bits) : fmt::format("{}:{}x{}", column.name, column.lanes, column.bits);
}

}  // namespace mx::golden
