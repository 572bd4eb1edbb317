// Codes of one format in another.

#include "kernels/sweep/codes.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

struct Known {
  const Format* from;
  const Format* to;
  const Conversion* how;
};

void convert_codes(const std::string& profile, const std::string& source, const std::string& target, const Bytes& codes, const Room& results) {
  const nb::gil_scoped_release unlocked;
  const OrdinaryMode mode;
  const Known& names = known<Known>(profile, source, target, [&] {
    const Format& from = format_named(source);
    const Format& to = format_named(target);
    return Known{&from, &to, &conversion(profile_named(profile), from, to)};
  });
  kernels::convert_codes({names.from, std::as_bytes(span_of(codes))}, *names.how, {names.to, std::as_writable_bytes(span_of(results))}, workers());
}

}  // namespace

void bind_conversions(nb::module_& module) {
  module.def("convert", convert_codes, nb::arg("profile"), nb::arg("source"), nb::arg("target"), nb::arg("codes"), nb::arg("results"));
}

}  // namespace mx::python
