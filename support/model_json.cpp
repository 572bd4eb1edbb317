#include "support/model_json.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.hpp"
#include "support/file.hpp"
#include "support/python_json.hpp"

namespace mx::support {
namespace {

using deployment::ConfigValue;

// Published configurations have some thousand entries in lists of modules; a table of every projection of every expert has megabytes.
constexpr JsonLimits kLimits{.bytes = std::uint64_t{16} << 20, .depth = 24, .memory = std::uint64_t{128} << 20};

/// The byte that an error of the parser names, as it says it behind the file's name.
std::size_t offset_of(const std::string& where) {
  constexpr std::string_view kByte = ": byte ";
  const std::size_t at = where.rfind(kByte);
  std::size_t offset = std::string::npos;
  if (at != std::string::npos) std::from_chars(where.data() + at + kByte.size(), where.data() + where.size(), offset);
  return offset;
}

/// The last key that begins before a byte, and the word behind its colon: {"num_experts", "NaN"}; empty where there is none.
struct LastKey {
  std::string_view key;
  std::string_view word;
};
LastKey key_before(std::string_view text, std::size_t offset) {
  LastKey last;
  for (std::size_t at = 0; at < std::min(offset + 1, text.size());) {
    if (text[at] != '"') {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? std::size_t{2} : std::size_t{1};
    if (end >= text.size()) return last;
    std::size_t behind = end + 1;
    while (behind < text.size() && std::isspace(static_cast<unsigned char>(text[behind])) != 0) ++behind;
    if (behind < text.size() && text[behind] == ':') {
      std::size_t begin = behind + 1;
      while (begin < text.size() && std::isspace(static_cast<unsigned char>(text[begin])) != 0) ++begin;
      std::size_t stop = begin;
      while (stop < text.size() && stop - begin < 40 &&
             (std::isalnum(static_cast<unsigned char>(text[stop])) != 0 || text[stop] == '.' || text[stop] == '-'))
        ++stop;
      last = {text.substr(at + 1, end - at - 1), text.substr(begin, stop - begin)};
    }
    at = end + 1;
  }
  return last;
}

}  // namespace

Json read_model_json(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> bytes = read_file(file, kLimits.bytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string name = file.filename().string();
  if (std::ranges::all_of(bytes, [](std::uint8_t byte) { return std::isspace(byte) != 0; }))
    throw Error(ErrorCode::input, name + " is empty", file.string());
  try {
    return parse_python_json(bytes, kLimits, file.string());
  } catch (const Error& error) {
    const std::size_t offset = offset_of(error.where());
    // Error says its place before its message.
    std::string message = error.what();
    if (message.starts_with(error.where() + ": ")) message.erase(0, error.where().size() + 2);
    if (offset != std::string::npos && offset + 1 >= text.size()) message += "; " + name + " ends there";
    const LastKey last = offset == std::string::npos ? LastKey{} : key_before(text, offset);
    const bool is_there = !last.word.empty() && text.data() + offset <= last.word.data() + last.word.size();
    if (!last.key.empty())
      message = (is_there ? std::string(last.key) + " is " + std::string(last.word) : "behind " + std::string(last.key)) + ": " + message;
    if (message.find("does not fit 64 bits") != std::string::npos) message += ", too large";
    throw Error(error.code(), message, error.where());
  }
}

ConfigValue config_value_of(const Json& json) {
  ConfigValue value;
  if (json.is_boolean()) {
    value.kind = ConfigValue::Kind::flag;
    value.flag = json.flag();
  } else if (json.is_number_integer()) {
    value.kind = ConfigValue::Kind::integer;
    value.integer = json.is_int64() ? json.integer() : std::numeric_limits<std::int64_t>::max();
    value.number = static_cast<double>(value.integer);
    value.text = json.dump();
  } else if (json.is_number()) {
    value.kind = ConfigValue::Kind::number;
    value.number = json.number();
    value.text = json.dump();
  } else if (json.is_string()) {
    value.kind = ConfigValue::Kind::text;
    value.text = json.text();
  } else if (json.is_array()) {
    value.kind = ConfigValue::Kind::list;
    for (const Json& item : json) value.items.push_back(config_value_of(item));
  } else if (json.is_object()) {
    value.kind = ConfigValue::Kind::object;
    for (const JsonMember& member : json.items()) {
      value.names.push_back(member.key);
      value.items.push_back(config_value_of(member.value));
    }
  }
  return value;
}

}  // namespace mx::support
