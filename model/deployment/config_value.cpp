#include "model/deployment/config_value.hpp"

#include <algorithm>
#include <array>

namespace mx::deployment {
namespace {

constexpr std::array<std::string_view, 7> kKinds = {"null", "true or false", "an integer", "a number", "text", "a list", "an object"};
constexpr std::size_t kLongestWritten = 60;

std::string whole(const ConfigValue& value) {
  switch (value.kind) {
    case ConfigValue::Kind::null: return "null";
    case ConfigValue::Kind::flag: return value.flag ? "true" : "false";
    case ConfigValue::Kind::integer:
    case ConfigValue::Kind::number: return value.text;
    case ConfigValue::Kind::text: return "'" + value.text + "'";
    case ConfigValue::Kind::object: return "an object";
    case ConfigValue::Kind::list: break;
  }
  std::string text = "[";
  for (const ConfigValue& item : value.items) {
    if (text.size() > kLongestWritten) break;
    text += (text.size() > 1 ? ", " : "") + whole(item);
  }
  return text + "]";
}

}  // namespace

std::string_view name_of(ConfigValue::Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

const ConfigValue* ConfigValue::find(std::string_view path) const {
  const std::size_t dot = path.find('.');
  const auto name = std::ranges::find(names, path.substr(0, dot));
  if (name == names.end()) return nullptr;
  const ConfigValue& item = items[static_cast<std::size_t>(name - names.begin())];
  return dot == std::string_view::npos ? &item : item.find(path.substr(dot + 1));
}

std::string ConfigValue::written() const {
  const std::string all = whole(*this);
  return all.size() <= kLongestWritten ? all : all.substr(0, kLongestWritten) + "..";
}

}  // namespace mx::deployment
