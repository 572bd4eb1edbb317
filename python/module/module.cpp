// mxact._core: the C++ libraries as Python's side of the package calls them.

#include <exception>
#include <new>

#include "model/error.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

const char* word_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage: return "usage";
    case ErrorCode::input: return "input";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::resource: return "resource";
  }
  return "internal";
}

void raise(const char* code, const char* message, const std::string& place) {
  const nb::object error = nb::module_::import_("mxact._error").attr("Error");
  const nb::object value = error(nb::str(message), nb::str(code), nb::str(place.c_str()));
  PyErr_SetObject(error.ptr(), value.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(word_of(error.code()), error.what(), error.where());
  } catch (const std::bad_alloc&) {
    raise("resource", "out of memory", "");
  }
}

}  // namespace
}  // namespace mx::python

NB_MODULE(_core, module) {
  using namespace mx::python;
  // What a caller keeps to the end of the interpreter is no leak.
  nb::set_leak_warnings(false);
  module.doc() = "The C++ side of mxact: names, sizes and bits. Use the package mxact.";
  nb::register_exception_translator(translate);
  bind_call_cache(module);
  bind_audit(module);
  bind_inspect(module);
  bind_made_by(module);
  bind_blocks(module);
  bind_causes(module);
  bind_conversions(module);
  bind_converter(module);
  bind_flags(module);
  bind_kernels(module);
  bind_layers(module);
  bind_layouts(module);
  bind_moe(module);
  bind_affine(module);
  bind_operations(module);
  bind_products(module);
  bind_room(module);
  bind_scoreboard(module);
  bind_select(module);
  bind_stages(module);
  bind_tables(module);
  bind_threads(module);
  bind_verbs(module);
}
