#include "model/engine/vllm/architecture/fields.hpp"

#include <algorithm>
#include <utility>

#include "model/error.hpp"

namespace mx::engine {

using deployment::ConfigValue;
using Kind = ConfigValue::Kind;

void FieldReader::fail(const std::string& message) const { throw Error(ErrorCode::input, message, where_); }
void FieldReader::unsupported(const std::string& message) const { throw Error(ErrorCode::unsupported, message, where_); }

void FieldReader::missing(std::string_view name) const {
  fail(part_ + std::string(name) + " is missing, and its configuration class has no default");
}

void FieldReader::wrong(std::string_view name, const ConfigValue& value, const std::string& wanted) const {
  fail(part_ + std::string(name) + " is " + value.written() + " (" + std::string(deployment::name_of(value.kind)) + "), must be " + wanted);
}

const ConfigValue* FieldReader::value_of(const SizeField& field, std::string_view& name) const {
  const ConfigValue* found = nullptr;
  name = field.names[0];
  for (const std::string_view one : field.names) {
    if (one.empty()) continue;
    asked_.emplace(one);
    const ConfigValue* const value = object_.find(one);
    if (value == nullptr) continue;
    if (found != nullptr && found->written() != value->written())
      fail(part_ + std::string(name) + " is " + found->written() + " and " + part_ + std::string(one) + " is " + value->written() +
           ": both name one field");
    if (found == nullptr) name = one;
    if (found == nullptr) found = value;
  }
  return found;
}

std::int64_t FieldReader::size(const SizeField& field, std::int64_t low, std::int64_t high) const {
  std::string_view name;
  const ConfigValue* const value = value_of(field, name);
  const bool is_missing = value == nullptr || (value->is(Kind::null) && field.null_is_fallback);
  if (is_missing && !field.has_fallback) missing(name);
  if (is_missing) {
    const std::string text = std::string(name) + " " + std::to_string(field.fallback);
    if (!name.empty() && std::ranges::find(defaults_, text) == defaults_.end()) defaults_.push_back(text);
    return field.fallback;
  }
  if (!value->is(Kind::integer)) wrong(name, *value, "an integer");
  if (value->integer > high) fail(part_ + std::string(name) + " is " + value->written() + ", too large: at most " + std::to_string(high));
  if (value->integer < low) fail(part_ + std::string(name) + " is " + value->written() + ", must be at least " + std::to_string(low));
  return value->integer;
}

bool FieldReader::flag(const FlagField& field) const {
  if (field.name.empty()) return field.fallback.value_or(false);
  asked_.emplace(field.name);
  const ConfigValue* const value = object_.find(field.name);
  if (value == nullptr || value->is(Kind::null)) {
    if (!field.fallback) missing(field.name);
    return *field.fallback;
  }
  if (!value->is(Kind::flag)) wrong(field.name, *value, "true or false");
  return value->flag;
}

std::string FieldReader::word(const WordField& field) const {
  if (field.name.empty()) return std::string(field.fallback);
  asked_.emplace(field.name);
  const ConfigValue* const value = object_.find(field.name);
  if (value == nullptr || value->is(Kind::null)) {
    if (field.fallback.empty()) missing(field.name);
    return std::string(field.fallback);
  }
  if (!value->is(Kind::text)) wrong(field.name, *value, "text");
  return value->text;
}

double FieldReader::number(const NumberField& field) const {
  if (field.name.empty()) return field.fallback;
  asked_.emplace(field.name);
  const ConfigValue* const value = object_.find(field.name);
  if (value == nullptr || value->is(Kind::null)) return field.fallback;
  if (!value->is(Kind::integer) && !value->is(Kind::number)) wrong(field.name, *value, "a number");
  return value->number;
}

const ConfigValue* FieldReader::given(std::string_view name) const {
  asked_.emplace(name);
  const ConfigValue* const value = object_.find(name);
  return value == nullptr || value->is(Kind::null) ? nullptr : value;
}

std::vector<std::int64_t> FieldReader::integers(std::string_view name) const {
  std::vector<std::int64_t> numbers;
  const ConfigValue* const value = given(name);
  if (value == nullptr) return numbers;
  if (!value->is(Kind::list)) wrong(name, *value, "a list of integers");
  for (const ConfigValue& item : value->items) {
    if (!item.is(Kind::integer)) wrong(name, item, "a list of integers");
    numbers.push_back(item.integer);
  }
  return numbers;
}

std::vector<std::string> FieldReader::words(std::string_view name) const {
  std::vector<std::string> texts;
  const ConfigValue* const value = given(name);
  if (value == nullptr) return texts;
  if (!value->is(Kind::list)) wrong(name, *value, "a list of texts");
  for (const ConfigValue& item : value->items) {
    if (!item.is(Kind::text)) wrong(name, item, "a list of texts");
    texts.push_back(item.text);
  }
  return texts;
}

std::string FieldReader::called(const SizeField& field) const {
  std::string_view name;
  const ConfigValue* const value = value_of(field, name);
  if (name.empty()) return std::to_string(field.fallback);
  return part_ + std::string(name) + (value == nullptr || value->is(Kind::null) ? " (by default)" : "");
}

std::string FieldReader::called(std::string_view name) const { return part_ + std::string(name); }

}  // namespace mx::engine
