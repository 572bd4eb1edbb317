#include "support/json.hpp"

#include <algorithm>
#include <ostream>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::support {

Json::Json(std::string text) : kind_(Kind::text), payload_{.text = new std::string(std::move(text))} {}
Json::Json(Array elements) : kind_(Kind::array), payload_{.array = new Array(std::move(elements))} {}
Json::Json(Object members) : kind_(Kind::object), payload_{.object = new Object(std::move(members))} {}
Json::Json(std::initializer_list<JsonMember> members) : Json(Object(members)) {}
Json Json::array(std::initializer_list<Json> elements) { return Json(Array(elements)); }
Json Json::object() { return Json(Object()); }

Json::Json(const Json& other) : kind_(other.kind_), payload_(other.payload_) {
  switch (kind_) {
    case Kind::text: payload_.text = new std::string(*other.payload_.text); break;
    case Kind::array: payload_.array = new Array(*other.payload_.array); break;
    case Kind::object: payload_.object = new Object(*other.payload_.object); break;
    default: break;
  }
}

Json::Json(Json&& other) noexcept { swap(other); }

Json& Json::operator=(Json other) noexcept {
  swap(other);
  return *this;
}

Json::~Json() {
  switch (kind_) {
    case Kind::text: delete payload_.text; break;
    case Kind::array: delete payload_.array; break;
    case Kind::object: delete payload_.object; break;
    default: break;
  }
}

void Json::swap(Json& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(payload_, other.payload_);
}

const char* Json::type_name() const {
  switch (kind_) {
    case Kind::null: return "null";
    case Kind::flag: return "boolean";
    case Kind::integer:
    case Kind::natural:
    case Kind::number: return "number";
    case Kind::text: return "string";
    case Kind::array: return "array";
    case Kind::object: return "object";
  }
  return "";
}

void Json::fail(std::string_view wanted) const {
  throw Error(ErrorCode::input, printable(dump(-1, BadText::replaced).substr(0, 60)) + " is no " + std::string(wanted));
}

bool Json::flag() const {
  if (kind_ != Kind::flag) fail("true or false");
  return payload_.flag;
}

std::int64_t Json::integer() const {
  if (kind_ == Kind::natural && std::in_range<std::int64_t>(payload_.natural)) return static_cast<std::int64_t>(payload_.natural);
  if (kind_ != Kind::integer) fail("integer of 64 bits with a sign");
  return payload_.integer;
}

std::uint64_t Json::natural() const {
  if (kind_ == Kind::integer && payload_.integer >= 0) return static_cast<std::uint64_t>(payload_.integer);
  if (kind_ != Kind::natural) fail("integer of 64 bits without a sign");
  return payload_.natural;
}

double Json::number() const {
  switch (kind_) {
    case Kind::number: return payload_.number;
    case Kind::integer: return static_cast<double>(payload_.integer);
    case Kind::natural: return static_cast<double>(payload_.natural);
    default: fail("number");
  }
}

const std::string& Json::text() const {
  if (kind_ != Kind::text) fail("text");
  return *payload_.text;
}

std::size_t Json::size() const {
  if (kind_ == Kind::object) return payload_.object->size();
  return elements().size();
}

const Json::Array& Json::elements() const {
  static const Array none;
  if (kind_ == Kind::null) return none;
  if (kind_ != Kind::array) fail("array");
  return *payload_.array;
}

const Json& Json::element(std::size_t index) const {
  const Array& all = elements();
  if (index >= all.size()) fail("array with an element " + std::to_string(index));
  return all[index];
}

void Json::push_back(Json element) {
  if (kind_ == Kind::null) *this = array();
  if (kind_ != Kind::array) fail("array");
  payload_.array->push_back(std::move(element));
}

const Json::Object& Json::items() const {
  if (kind_ != Kind::object) fail("object");
  return *payload_.object;
}

const Json* Json::find(std::string_view key) const {
  if (kind_ != Kind::object) return nullptr;
  const auto found = std::ranges::find(*payload_.object, key, &JsonMember::key);
  return found == payload_.object->end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view key) const {
  const Json* found = find(key);
  if (found == nullptr) fail("object with a member " + in_quotes(key));
  return *found;
}

Json& Json::member(std::string_view key) {
  if (kind_ == Kind::null) *this = object();
  if (const Json* found = find(key); found != nullptr) return const_cast<Json&>(*found);
  items().push_back({std::string(key), nullptr});
  return items().back().value;
}

void Json::update(const Json& members) {
  for (const auto& [key, value] : members.items()) member(key) = value;
}

void Json::erase(std::string_view key) {
  std::erase_if(items(), [&](const JsonMember& member) { return member.key == key; });
}

void Json::erase(std::size_t index) {
  static_cast<void>(element(index));
  payload_.array->erase(begin() + static_cast<std::ptrdiff_t>(index));
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_number_float() || b.is_number_float()) return a.number() == b.number();
    if (a.is_number_unsigned())
      return b.is_number_unsigned() ? a.payload_.natural == b.payload_.natural : std::cmp_equal(a.payload_.natural, b.payload_.integer);
    return b.is_number_unsigned() ? b == a : a.payload_.integer == b.payload_.integer;
  }
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Json::Kind::flag: return a.payload_.flag == b.payload_.flag;
    case Json::Kind::text: return *a.payload_.text == *b.payload_.text;
    case Json::Kind::array: return *a.payload_.array == *b.payload_.array;
    case Json::Kind::object: return *a.payload_.object == *b.payload_.object;
    default: return true;
  }
}

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.dump(-1, Json::BadText::replaced); }

}  // namespace mx::support
