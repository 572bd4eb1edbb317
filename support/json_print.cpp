#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "support/json.hpp"

namespace mx::support {
namespace {

using Printed = nlohmann::ordered_json;

Printed printed(const Json& json) {
  if (json.is_boolean()) return json.flag();
  if (json.is_number_unsigned()) return json.natural();
  if (json.is_number_integer()) return json.integer();
  if (json.is_number_float()) return json.number();
  if (json.is_string()) return json.text();
  if (json.is_array()) {
    Printed array = Printed::array();
    for (const Json& element : json) array.push_back(printed(element));
    return array;
  }
  if (json.is_object()) {
    Printed object = Printed::object();
    // Not operator[]: it looks for the key, one by one.
    for (const auto& [key, value] : json.items()) object.get_ref<Printed::object_t&>().emplace_back(key, printed(value));
    return object;
  }
  return nullptr;
}

}  // namespace

std::string Json::dump(int indent, BadText bad_text) const {
  using Handler = Printed::error_handler_t;
  try {
    return printed(*this).dump(indent, ' ', false, bad_text == BadText::refused ? Handler::strict : Handler::replace);
  } catch (const Printed::type_error&) {
    throw Error(ErrorCode::input, "text that is not UTF-8 cannot be written as JSON");
  }
}

}  // namespace mx::support
