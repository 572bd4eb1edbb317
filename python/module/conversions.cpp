// Codes of one format in another.

#include "kernels/sweep/codes.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

void convert_codes(const std::string& profile, const std::string& source, const std::string& target, const Bytes& codes, const Room& results) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const Format& from = format_named(source);
  const Format& to = format_named(target);
  const Conversion& how = conversion(profile_named(profile), from, to);
  kernels::convert_codes({&from, std::as_bytes(span_of(codes))}, how, {&to, std::as_writable_bytes(span_of(results))}, workers());
}

}  // namespace

void bind_conversions(nb::module_& module) {
  module.def("convert", convert_codes, nb::arg("profile"), nb::arg("source"), nb::arg("target"), nb::arg("codes"), nb::arg("results"));
}

}  // namespace mx::python
