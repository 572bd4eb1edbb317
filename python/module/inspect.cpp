// What a checkpoint is, and whether it is sound.

#include "checkpoint/inspect/inspect.hpp"

#include "python/module/core.hpp"
#include "verbs/inspect/inspect_document.hpp"

namespace mx::python {
namespace {

nb::dict inspect(const std::string& path, bool deep, const std::optional<std::string>& engine) {
  support::Json body;
  {
    const nb::gil_scoped_release unlocked;
    checkpoint::InspectOptions options{.depth = deep ? checkpoint::Depth::weights : checkpoint::Depth::scales};
    if (engine) options.engine = deployment::engine_named(*engine);
    body = verbs::body_json(verbs::inspect_document(checkpoint::inspect_checkpoint(path, options)));
  }
  return nb::borrow<nb::dict>(to_python(body));
}

}  // namespace

void bind_inspect(nb::module_& module) { module.def("inspect", inspect, nb::arg("path"), nb::arg("deep"), nb::arg("engine").none()); }

}  // namespace mx::python
