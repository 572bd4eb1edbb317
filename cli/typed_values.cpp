#include "cli/typed_values.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string_view>

#include "model/error.hpp"
#include "support/file.hpp"
#include "support/npy.hpp"

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

/// The source format that numpy's numbers of that type are in; none: they are codes of any.
std::string_view source_of(const support::NpyArray& array) {
  if (array.kind == 'f' && array.width > 1) return array.width == 2 ? "fp16" : array.width == 4 ? "f32" : "f64";
  if (array.kind == 'i') return array.width == 8 ? "i64" : "i32";
  return {};
}

std::vector<std::string> words_of_file(const std::string& path, Elements elements, const std::string& source) {
  const std::vector<std::uint8_t> file = support::read_file(path, kMostBytes);
  const support::NpyArray array = support::npy_array(file, kMostValues, path);
  const std::string_view needed = source_of(array);
  if (elements == Elements::codes && !needed.empty()) throw Error(ErrorCode::usage, "holds numbers; codes are unsigned integers", path);
  if (elements == Elements::values && !needed.empty() && needed != source)
    throw Error(ErrorCode::usage, fmt::format("holds {} numbers, not {}: give --from {}", needed, source, needed), path);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < array.bytes.size(); at += array.width) {
    std::uint64_t bits = 0;
    for (std::size_t byte = array.width; byte-- > 0;) bits = bits << 8U | array.bytes[at + byte];
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
