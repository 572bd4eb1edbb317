// What kernels need, and where an engine's choices break it.

#include "model/audit/audit.hpp"

#include "model/engine/vllm/tables.hpp"
#include "python/module/core.hpp"
#include "support/findings_file.hpp"
#include "verbs/audit/audit_document.hpp"

namespace mx::python {
namespace {

/// The document of `make`, worked out without the lock of the interpreter.
template <class Make>
nb::dict document_of(const std::optional<std::string>& engine, const std::optional<std::string>& oracle, const Make& make) {
  support::Json body;
  {
    const nb::gil_scoped_release unlocked;
    const verbs::AskedEngine asked = verbs::asked_engine(engine.value_or(std::string(deployment::name_of(deployment::kDefaultEngine))));
    std::vector<std::string_view> oracles;
    if (oracle) oracles = {*oracle};
    body = verbs::body_json(make(asked, oracle ? std::span<const std::string_view>(oracles) : engine::oracle_names(asked.engine)));
  }
  return nb::borrow<nb::dict>(to_python(body));
}

nb::dict needs(const std::optional<std::string>& engine, const std::optional<std::string>& oracle) {
  return document_of(engine, oracle, verbs::needs_document);
}

nb::dict audit(const std::optional<std::string>& engine, const std::optional<std::string>& oracle) {
  return document_of(engine, oracle, [](const verbs::AskedEngine& asked, std::span<const std::string_view> oracles) {
    return verbs::audit_document(audit::audit(asked.engine, oracles), asked, oracles, support::known_findings());
  });
}

}  // namespace

void bind_audit(nb::module_& module) {
  module.def("needs", needs, nb::arg("engine").none(), nb::arg("oracle").none());
  module.def("audit", audit, nb::arg("engine").none(), nb::arg("oracle").none());
}

}  // namespace mx::python
