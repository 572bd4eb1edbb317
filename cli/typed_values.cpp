#include "cli/typed_values.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <optional>
#include <span>
#include <string_view>

#include "model/error.hpp"
#include "support/file.hpp"

namespace mx::cli {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 20;
constexpr std::size_t kMostBytes = kMostValues * 8 + (std::size_t{1} << 16);

std::vector<std::string> words_of_input() {
  constexpr int kLongestWord = 100;
  std::vector<std::string> words;
  for (std::string word; std::cin >> std::setw(kLongestWord) >> word;) {
    if (words.size() == kMostValues) throw Error(ErrorCode::usage, fmt::format("more than {} values", kMostValues), "standard input");
    words.push_back(word);
  }
  if (std::cin.bad()) throw Error(ErrorCode::resource, "cannot be read", "standard input");
  return words;
}

/// An array as its head describes it. Source: numpy/lib/format.py, formats 1.0 to 3.0.
struct Array {
  char order;         ///< '<' little-endian, '|' bytes
  char kind;          ///< 'f', 'i', 'u', 'V'
  std::size_t width;  ///< bytes of an element
  std::span<const std::uint8_t> bytes;
};

std::uint64_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8U | bytes[i];
  return number;
}

/// The head's text behind `key`, up to where the next one may begin.
std::string_view behind(std::string_view head, std::string_view key, const std::string& where) {
  const std::size_t at = head.find(key);
  if (at == std::string_view::npos) throw Error(ErrorCode::input, fmt::format("has no {} in its head", key), where);
  head.remove_prefix(at + key.size());
  head.remove_prefix(std::min(head.find_first_not_of(": "), head.size()));
  return head;
}

/// The product of the sizes in "(2, 3)", 1 for "()". Throws Error(input) for what is no such tuple or more than is read.
std::size_t elements_of(std::string_view shape, const std::string& where) {
  const std::size_t end = shape.find(')');
  if (!shape.starts_with('(') || end == std::string_view::npos) throw Error(ErrorCode::input, "has a shape that is no tuple", where);
  std::size_t count = 1;
  for (std::string_view rest = shape.substr(1, end - 1); !rest.empty();) {
    std::size_t size = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc()) throw Error(ErrorCode::input, "has a shape whose sizes are no numbers", where);
    if (size > kMostValues || (count *= size) > kMostValues) throw Error(ErrorCode::usage, fmt::format("more than {} values", kMostValues), where);
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    rest.remove_prefix(std::min(rest.find_first_not_of(", "), rest.size()));
  }
  return count;
}

/// Throws Error(input) for a file that is no array in C order of little-endian elements, as long as its shape says.
Array array_of(std::span<const std::uint8_t> file, const std::string& where) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  const std::size_t width = file.size() > kMagic.size() && file[kMagic.size()] > 1 ? 4 : 2;
  const std::size_t start = kMagic.size() + 2 + width;
  if (file.size() < start || !std::equal(kMagic.begin(), kMagic.end(), file.begin(), [](char a, std::uint8_t b) { return std::uint8_t(a) == b; }))
    throw Error(ErrorCode::input, "is no .npy file", where);
  const std::size_t length = little_endian(file.subspan(start - width, width));
  if (length > file.size() - start) throw Error(ErrorCode::input, "ends within its head", where);
  const std::string_view head(reinterpret_cast<const char*>(file.data()) + start, length);
  if (!behind(head, "'fortran_order'", where).starts_with("False")) throw Error(ErrorCode::input, "is not in C order", where);
  const std::string_view type = behind(head, "'descr'", where);
  Array array{.order = 0, .kind = 0, .width = 0, .bytes = file.subspan(start + length)};
  if (type.size() > 4 && type[0] == '\'' && type[3] >= '1' && type[3] <= '8' && type[4] == '\'')
    array = {.order = type[1], .kind = type[2], .width = static_cast<std::size_t>(type[3] - '0'), .bytes = array.bytes};
  if ((array.order != '<' && array.order != '|') || std::string_view("fiuV").find(array.kind) == std::string_view::npos)
    throw Error(ErrorCode::input, "is of a type that is not read: float, int, uint or void, of at most 8 bytes, little-endian", where);
  const std::size_t count = elements_of(behind(head, "'shape'", where), where);
  if (array.bytes.size() != count * array.width)
    throw Error(ErrorCode::input, fmt::format("has {} bytes for {} elements of {}", array.bytes.size(), count, array.width), where);
  return array;
}

/// The source format that numpy's numbers of that type are in; none: they are codes of any.
std::string_view source_of(const Array& array) {
  if (array.kind == 'f' && array.width > 1) return array.width == 2 ? "fp16" : array.width == 4 ? "f32" : "f64";
  if (array.kind == 'i') return array.width == 8 ? "i64" : "i32";
  return {};
}

std::vector<std::string> words_of_file(const std::string& path, Elements elements, const std::string& source) {
  const std::vector<std::uint8_t> file = support::read_file(path, kMostBytes);
  const Array array = array_of(file, path);
  const std::string_view needed = source_of(array);
  if (elements == Elements::codes && !needed.empty()) throw Error(ErrorCode::usage, "holds numbers; codes are unsigned integers", path);
  if (elements == Elements::values && !needed.empty() && needed != source)
    throw Error(ErrorCode::usage, fmt::format("holds {} numbers, not {}: give --from {}", needed, source, needed), path);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < array.bytes.size(); at += array.width) {
    const std::uint64_t bits = little_endian(array.bytes.subspan(at, array.width));
    const auto unused = static_cast<unsigned>(64 - 8 * array.width);
    if (array.kind == 'i')
      words.push_back(std::to_string(static_cast<std::int64_t>(bits << unused) >> unused));
    else
      words.push_back(fmt::format("0x{:0{}x}", bits, 2 * array.width));
  }
  return words;
}

}  // namespace

std::vector<std::string> typed_values(const std::vector<std::string>& words, Elements elements, const std::string& source) {
  std::vector<std::string> values;
  for (const std::string& word : words.empty() ? words_of_input() : words) {
    if (word.ends_with(".npy")) {
      const std::vector<std::string> file = words_of_file(word, elements, source);
      values.insert(values.end(), file.begin(), file.end());
    } else {
      values.push_back(word);
    }
  }
  if (values.empty()) throw Error(ErrorCode::usage, "no values: give them as arguments or on standard input");
  if (values.size() > kMostValues) throw Error(ErrorCode::usage, fmt::format("more than {} values", kMostValues));
  return values;
}

}  // namespace mx::cli
