#include "support/npy.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "model/error.hpp"

namespace mx::support {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
/// numpy's own limit, numpy.lib.format: NPY_MAXDIMS.
constexpr std::size_t kMostAxes = 64;

[[noreturn]] void fail(const std::string& where, const std::string& text) { throw Error(ErrorCode::input, text, where); }

std::uint64_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8U | bytes[i];
  return number;
}

/// The head's text behind `key`, up to where the next one may begin.
std::string_view behind(std::string_view head, std::string_view key, const std::string& where) {
  const std::size_t at = head.find(key);
  if (at == std::string_view::npos) fail(where, "has no " + std::string(key) + " in its head");
  head.remove_prefix(at + key.size());
  head.remove_prefix(std::min(head.find_first_not_of(": "), head.size()));
  return head;
}

/// The sizes in "(2, 3)", none for "()".
std::vector<std::int64_t> shape_of(std::string_view text, std::uint64_t most, const std::string& where) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) fail(where, "has a shape that is no tuple");
  std::vector<std::int64_t> shape;
  std::uint64_t count = 1;
  for (std::string_view rest = text.substr(1, end - 1); !rest.empty();) {
    std::uint64_t size = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc()) fail(where, "has a shape whose sizes are no numbers");
    if (shape.size() == kMostAxes) fail(where, "has more than " + std::to_string(kMostAxes) + " axes");
    if (size > most || (size != 0 && count > most / size)) throw Error(ErrorCode::usage, "more than " + std::to_string(most) + " values", where);
    count *= size;
    shape.push_back(static_cast<std::int64_t>(size));
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    rest.remove_prefix(std::min(rest.find_first_not_of(", "), rest.size()));
  }
  return shape;
}

}  // namespace

std::string NpyArray::type() const {
  const std::string_view word = kind == 'f' ? "float" : kind == 'i' ? "int" : kind == 'u' ? "uint" : "";
  if (word.empty()) return std::to_string(width) + "-byte void";
  return std::string(word) + std::to_string(8 * width);
}

NpyArray npy_array(std::span<const std::uint8_t> file, std::uint64_t most, const std::string& where) {
  const std::size_t width = file.size() > kMagic.size() && file[kMagic.size()] > 1 ? 4 : 2;
  const std::size_t start = kMagic.size() + 2 + width;
  if (file.size() < start || !std::equal(kMagic.begin(), kMagic.end(), file.begin(), [](char a, std::uint8_t b) { return std::uint8_t(a) == b; }))
    fail(where, "is no .npy file");
  const std::size_t length = little_endian(file.subspan(start - width, width));
  if (length > file.size() - start) fail(where, "ends within its head");
  const std::string_view head(reinterpret_cast<const char*>(file.data()) + start, length);
  if (!behind(head, "'fortran_order'", where).starts_with("False")) fail(where, "is not in C order");
  const std::string_view type = behind(head, "'descr'", where);
  NpyArray array{.kind = 0, .width = 0, .shape = {}, .bytes = file.subspan(start + length)};
  const bool is_plain =
      type.size() > 4 && type[0] == '\'' && (type[1] == '<' || type[1] == '|') && type[3] >= '1' && type[3] <= '8' && type[4] == '\'';
  if (is_plain) {
    array.kind = type[2];
    array.width = static_cast<std::size_t>(type[3] - '0');
  }
  if (!is_plain || std::string_view("fiuV").find(array.kind) == std::string_view::npos)
    fail(where, "is of a type that is not read: float, int, uint or void, of at most 8 bytes, little-endian");
  array.shape = shape_of(behind(head, "'shape'", where), most, where);
  std::uint64_t count = 1;
  for (const std::int64_t size : array.shape) count *= static_cast<std::uint64_t>(size);
  if (array.bytes.size() != count * array.width)
    fail(where, "has " + std::to_string(array.bytes.size()) + " bytes for " + std::to_string(count) + " elements of " + std::to_string(array.width));
  return array;
}

std::vector<std::uint8_t> npy_bytes(std::string_view descr, std::span<const std::int64_t> shape, std::span<const std::uint8_t> elements) {
  std::string tuple;
  for (const std::int64_t size : shape) tuple += std::to_string(size) + ",";
  std::string head = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + tuple + "), }";
  // Format 1.0: the data begin at a multiple of 64 bytes.
  constexpr std::size_t kBefore = 10, kAligned = 64;
  head.append((kAligned - (kBefore + head.size() + 1) % kAligned) % kAligned, ' ');
  head += '\n';
  std::vector<std::uint8_t> file(kMagic.begin(), kMagic.end());
  file.insert(file.end(), {1, 0, static_cast<std::uint8_t>(head.size()), static_cast<std::uint8_t>(head.size() >> 8U)});
  file.insert(file.end(), head.begin(), head.end());
  file.insert(file.end(), elements.begin(), elements.end());
  return file;
}

}  // namespace mx::support
