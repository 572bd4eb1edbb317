// JSON values as Python's, and the reverse.

#include "model/error.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

using support::Json;

[[noreturn]] void refuse(const std::string& key, const std::string& rest, const std::string& where) {
  throw Error(ErrorCode::input, (key.empty() ? "" : key + " ") + rest, where);
}

std::string type_of(nb::handle value) {
  return nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()))).attr("__name__"));
}

/// Python's text may hold what no UTF-8 has.
std::string text_of(nb::handle text, const std::string& key, const std::string& where) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes != nullptr) return {bytes, static_cast<std::size_t>(size)};
  PyErr_Clear();
  refuse(key, "is no UTF-8", where);
}

Json number_of(nb::handle value, const std::string& key, const std::string& where) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0) refuse(key, "is a whole number of more than 64 bits", where);
  return Json(std::int64_t{number});
}

}  // namespace

nb::object to_python(const Json& json) {
  if (json.is_boolean()) return nb::bool_(json.flag());
  if (json.is_int64()) return nb::int_(json.integer());
  if (json.is_number_integer()) return nb::int_(json.natural());
  if (json.is_number()) return nb::float_(json.number());
  if (json.is_string()) return nb::str(json.text().data(), json.text().size());
  if (json.is_array()) {
    nb::list list;
    for (const Json& element : json) list.append(to_python(element));
    return list;
  }
  if (json.is_object()) {
    nb::dict dict;
    for (const auto& [key, value] : json.items()) dict[nb::str(key.data(), key.size())] = to_python(value);
    return dict;
  }
  return nb::none();
}

Json to_json(nb::handle value, const std::string& where, const std::string& key, int depth) {
  constexpr int kDeepest = 16;
  if (depth > kDeepest) refuse(key, "nests too deep", where);
  if (nb::isinstance<nb::bool_>(value)) return Json(nb::cast<bool>(value));
  if (nb::isinstance<nb::str>(value)) return Json(text_of(value, key, where));
  if (nb::isinstance<nb::float_>(value)) return Json(nb::cast<double>(value));
  if (nb::isinstance<nb::dict>(value)) {
    Json object = Json::object();
    for (const auto& [name, member] : nb::borrow<nb::dict>(value)) {
      if (!nb::isinstance<nb::str>(name)) refuse(key, "has a key that is no text but of type " + type_of(name), where);
      const std::string word = text_of(name, key, where);
      object[word] = to_json(member, where, key.empty() ? word : key + "." + word, depth + 1);
    }
    return object;
  }
  if (nb::isinstance<nb::int_>(value)) return number_of(value, key, where);
  if (PyIndex_Check(value.ptr()) != 0) {
    const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (number.is_valid()) return number_of(number, key, where);
    PyErr_Clear();
  }
  refuse(key, "is of type " + type_of(value) + ", must be text, a number, a flag or a dict", where);
}

}  // namespace mx::python
