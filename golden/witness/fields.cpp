#include "golden/witness/fields.hpp"

#include <utility>

namespace mx::golden {

void broken(const std::string& message, const std::string& where) { throw Error(ErrorCode::input, message, where); }

std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = value.dump(-1, Json::BadText::replaced);
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
  return text;
}

Fields::Fields(const Json& object, std::string what, std::string where, Missing missing)
    : object_(&object), what_(std::move(what)), where_(std::move(where)), missing_(missing) {
  if (!object.is_object()) broken(what_ + " must be an object, not " + shown(object), where_);
}

bool Fields::has(std::string_view key) const { return object_->contains(key); }

const Json* Fields::find(std::string_view key) {
  read_.emplace(key);
  return object_->find(key);
}

const Json& Fields::at(std::string_view key) {
  const Json* value = find(key);
  if (value != nullptr) return *value;
  const std::string message = what_ + " has no '" + std::string(key) + "'";
  if (missing_ == Missing::unmodelled) throw Unmodelled(message);
  if (missing_ == Missing::lacks_input) throw LacksInput(ErrorCode::input, message, where_);
  broken(message, where_);
}

std::string Fields::text(std::string_view key) {
  const Json& value = at(key);
  if (!value.is_string()) throw Unmodelled(what_ + " '" + std::string(key) + "' must be a string, not " + shown(value));
  return value.get<std::string>();
}

std::int64_t Fields::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const Json& value = at(key);
  if (!value.is_int64()) throw Unmodelled(what_ + " '" + std::string(key) + "' must be an integer, not " + shown(value));
  const auto number = value.get<std::int64_t>();
  if (number < low || number > high) {
    throw Unmodelled(what_ + " '" + std::string(key) + "' is " + std::to_string(number) + ", outside " + std::to_string(low) + ".." +
                     std::to_string(high));
  }
  return number;
}

bool Fields::boolean(std::string_view key) {
  const Json& value = at(key);
  if (!value.is_boolean()) throw Unmodelled(what_ + " '" + std::string(key) + "' must be true or false, not " + shown(value));
  return value.get<bool>();
}

std::uint64_t Fields::hex(std::string_view key, int digits) {
  const std::string word = text(key);
  const auto length = static_cast<std::size_t>(digits);
  const bool shaped = word.size() == length + 2 && word.starts_with("0x") && word.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
  if (!shaped) {
    throw Unmodelled(what_ + " '" + std::string(key) + "' must be 0x and " + std::to_string(digits) + " hexadecimal digits, not '" + word + "'");
  }
  return std::stoull(word.substr(2), nullptr, 16);
}

void Fields::finish() const {
  for (const auto& [key, value] : object_->items()) {
    if (!read_.contains(key)) throw Unmodelled("unknown key '" + key + "' in " + what_);
  }
}

}  // namespace mx::golden
