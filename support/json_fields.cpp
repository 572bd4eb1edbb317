#include "support/json_fields.hpp"

#include <fmt/format.h>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::support {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

}  // namespace

JsonFields::JsonFields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
  if (!json_.is_object()) fail(where_, fmt::format("{} is not an object", in_quotes(json_.dump())));
}

const Json& JsonFields::at(const std::string& key) {
  const auto found = json_.find(key);
  if (found == nullptr) fail(where_, fmt::format("'{}' is missing", key));
  taken_.insert(key);
  return *found;
}

std::string JsonFields::text(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_string()) fail(where_, fmt::format("'{}' is {}, not a string", key, in_quotes(value.dump())));
  return value.get<std::string>();
}

std::int64_t JsonFields::integer(const std::string& key, std::int64_t low, std::int64_t high) {
  const Json& value = at(key);
  const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(high);
  if (!fits || value.get<std::int64_t>() < low) {
    fail(where_, fmt::format("'{}' is {}, not an integer from {} to {}", key, in_quotes(value.dump()), low, high));
  }
  return value.get<std::int64_t>();
}

const Json& JsonFields::array(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_array()) fail(where_, fmt::format("'{}' is {}, not an array", key, in_quotes(value.dump())));
  return value;
}

std::vector<std::string> JsonFields::texts(const std::string& key) {
  std::vector<std::string> texts;
  for (const Json& value : array(key)) {
    if (!value.is_string()) fail(where_, fmt::format("'{}' holds {}, not a string", key, in_quotes(value.dump())));
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

std::vector<std::int64_t> JsonFields::integers(const std::string& key) {
  std::vector<std::int64_t> integers;
  for (const Json& value : array(key)) {
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{1} << 62;
    if (!fits) fail(where_, fmt::format("'{}' holds {}, not an integer from 0 to 2^62", key, in_quotes(value.dump())));
    integers.push_back(value.get<std::int64_t>());
  }
  return integers;
}

void JsonFields::finish() const {
  for (const auto& [key, value] : json_.items()) {
    if (!taken_.contains(key)) fail(where_, fmt::format("unknown key {}", in_quotes(key)));
  }
}

}  // namespace mx::support
