// What an engine answers for a deployment.

#include <filesystem>

#include "model/deployment/version.hpp"
#include "python/module/core.hpp"
#include "sim/deployment_file.hpp"
#include "verbs/select/answer.hpp"

namespace mx::python {
namespace {

using sim::DeploymentFile;
using sim::Json;

Engine engine_of(const std::optional<std::string>& name) { return name ? engine_named(*name) : kDefaultEngine; }

/// What `read` reads, asked without the lock of the interpreter.
template <class Read>
nb::dict answer_of(const Read& read, bool strict) {
  Json answer;
  {
    const nb::gil_scoped_release unlocked;
    const DeploymentFile file = read();
    answer = sim::answer_json(file, sim::ask(file, strict), strict);
  }
  return nb::borrow<nb::dict>(to_python(answer));
}

nb::dict select_file(const std::string& path, const std::optional<std::string>& engine, const std::string& oracle, bool strict) {
  return answer_of([&] { return sim::load_deployment_file(std::filesystem::path(path), oracle, engine_of(engine)); }, strict);
}

nb::dict select_text(const std::string& text, const std::optional<std::string>& engine, const std::string& oracle, bool strict) {
  return answer_of([&] { return sim::parse_deployment_file(text, "deployment", oracle, engine_of(engine)); }, strict);
}

nb::dict select_dict(const nb::dict& deployment, const std::optional<std::string>& engine, const std::string& oracle, bool strict) {
  const Json object = to_json(deployment, "deployment");
  return answer_of([&] { return sim::deployment_file_of(object, "deployment", oracle, engine_of(engine)); }, strict);
}

}  // namespace

void bind_select(nb::module_& module) {
  module.def("select_file", select_file, nb::arg("path"), nb::arg("engine").none(), nb::arg("oracle"), nb::arg("strict"));
  module.def("select_text", select_text, nb::arg("text"), nb::arg("engine").none(), nb::arg("oracle"), nb::arg("strict"));
  module.def("select_dict", select_dict, nb::arg("deployment"), nb::arg("engine").none(), nb::arg("oracle"), nb::arg("strict"));
}

}  // namespace mx::python
