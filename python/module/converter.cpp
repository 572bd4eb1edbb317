// One conversion, looked up once, for many calls of a single number: what a call costs is what counts here.

#include "model/error.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

/// The arguments are Python's own objects: a type that is none of these is refused in the package's words, not in nanobind's.
std::uint32_t code_of(nb::handle code, const Format& format) {
  if (PyLong_CheckExact(code.ptr()) == 0 && PyIndex_Check(code.ptr()) == 0) {
    throw Error(ErrorCode::usage, std::string("code is of type ") + Py_TYPE(code.ptr())->tp_name + ", must be a whole number", "code");
  }
  const std::size_t word = PyLong_AsSize_t(PyLong_CheckExact(code.ptr()) != 0 ? code.ptr() : nb::steal(PyNumber_Index(code.ptr())).ptr());
  const bool failed = word == static_cast<std::size_t>(-1) && PyErr_Occurred() != nullptr;
  if (failed) PyErr_Clear();
  if (failed || word >> format.width != 0) {
    throw Error(ErrorCode::usage, "code is no code of " + std::string(format.name) + ", which has " + std::to_string(format.width) + " bits", "code");
  }
  return static_cast<std::uint32_t>(word);
}

class Converter {
 public:
  Converter(const std::string& profile, const std::string& source, const std::string& target)
      : source_(&format_named(source)), target_(&format_named(target)), how_(&conversion(profile_named(profile), *source_, *target_)) {
    if (how_->random_bits > 0) throw Error(ErrorCode::usage, "this rounding takes random bits", profile);
  }

  std::uint32_t operator()(nb::handle code) const { return convert(code_of(code, *source_), *source_, *target_, *how_); }

 private:
  const Format* source_;
  const Format* target_;
  const Conversion* how_;
};

/// What a call costs that does nothing: bench/python_calls.py holds the others to it.
struct Nothing {
  std::uint32_t operator()(nb::handle) const { return 0; }
};

}  // namespace

void bind_converter(nb::module_& module) {
  // A function whose argument has no name: nanobind calls it with the least around it.
  module.def(
      "converter",
      [](const std::string& profile, const std::string& source, const std::string& target) {
        return nb::cpp_function([converter = Converter(profile, source, target)](nb::handle code) { return converter(code); });
      },
      nb::arg("profile"), nb::arg("source"), nb::arg("target"));
  nb::class_<Nothing>(module, "Nothing").def(nb::init<>()).def("__call__", &Nothing::operator(), nb::arg("code"));
  using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
  module.def(
      "nothing", [](const Array&, const std::string&, const std::string&) {}, nb::arg("x"), nb::arg("to"), nb::arg("profile"));
  module.def(
      "nothing", [](const Array&, const Array&, const std::string&) {}, nb::arg("codes"), nb::arg("scales"), nb::arg("to"));
}

}  // namespace mx::python
