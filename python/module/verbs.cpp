// What verbs work out of a model or a deployment, as the documents that `--json` prints.

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "checkpoint/convert.hpp"
#include "checkpoint/job_plan.hpp"
#include "model/deployment/version.hpp"
#include "model/engine/vllm/variables.hpp"
#include "model/error.hpp"
#include "model/families/libraries.hpp"
#include "python/module/asked.hpp"
#include "python/module/memory.hpp"
#include "sim/ranks/comparison.hpp"
#include "sim/transport/transport.hpp"
#include "sim/verify/verify_parts.hpp"
#include "support/contract_file.hpp"
#include "support/file.hpp"
#include "support/tuned_file.hpp"
#include "verbs/convert/convert_document.hpp"
#include "verbs/engine/engine_document.hpp"
#include "verbs/matrix/matrix_document.hpp"
#include "verbs/sim/run_sim.hpp"
#include "verbs/verify/verify_document.hpp"

namespace mx::python {
namespace {

using support::Json;

std::string default_engine() { return std::string(deployment::name_of(deployment::kDefaultEngine)); }

/// The document of `make`, worked out without the lock of the interpreter, in the ordinary mode, by as many threads as mxact.threads() says.
template <class Make>
nb::dict document_of(const Make& make) {
  Json body;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    body = verbs::body_json(make());
  }
  return nb::borrow<nb::dict>(to_python(body));
}

/// Arguments that are lists of words, by name; those that are None are left out.
using Lists = std::map<std::string, std::vector<std::string>>;
std::vector<std::string> list_of(const Lists& lists, const char* name) {
  const auto found = lists.find(name);
  return found == lists.end() ? std::vector<std::string>{} : found->second;
}

/// A call's other arguments, each of the type that Python's side has checked; those that are None are left out.
class Arguments {
 public:
  Arguments(const nb::dict& given, const std::string& call) : json_(to_json(given, call)) {}

  std::string text(const char* name) const {
    const Json* const value = json_.find(name);
    return value == nullptr ? std::string() : value->text();
  }
  std::int64_t number(const char* name, std::int64_t otherwise) const {
    const Json* const value = json_.find(name);
    return value == nullptr ? otherwise : value->integer();
  }
  bool flag(const char* name) const {
    const Json* const value = json_.find(name);
    return value != nullptr && value->flag();
  }
  std::optional<int> kind() const {
    const Json* const value = json_.find("layer");
    return value == nullptr ? std::nullopt : std::optional(value->get<int>());
  }

 private:
  Json json_;
};

nb::dict matrix(const nb::dict& given, const Lists& lists, const std::optional<std::string>& engine) {
  const Arguments asked(given, "matrix");
  const std::string name = engine.value_or(default_engine());
  verbs::MatrixRequest request{.engine = deployment::engine_named(name),
                               .release = std::string(deployment::release_named(name)),
                               .models = list_of(lists, "models"),
                               .schemes = list_of(lists, "schemes"),
                               .oracles = list_of(lists, "oracles"),
                               .platforms = list_of(lists, "platforms"),
                               .spreads = list_of(lists, "parallel"),
                               .served = asked.text("model"),
                               .env = asked_for(given, engine, {}).env,
                               .every_scheme = false};
  const bool explain = asked.flag("explain");
  return document_of(
      [&] { return verbs::matrix_document(verbs::run_matrix(request, explain ? engine::Detail::texts : engine::Detail::codes), explain); });
}

verbs::ComparedEngine compared(const std::string& name) {
  return {deployment::engine_named(name), families::libraries_asked_by(deployment::release_named(name))};
}

/// `path`: of a deployment; none: every published checkpoint on every platform.
nb::dict engine_diff(const std::string& before, const std::string& after, const std::optional<std::string>& path, const nb::dict& given) {
  const Arguments asked(given, "engine_diff");
  const verbs::AskedFor about = asked_for(given, before, {});
  return document_of([&] {
    const verbs::ComparedEngine first = compared(before), second = compared(after);
    if (!path) return verbs::engine_diff_document(verbs::engine_diff(first, second));
    const verbs::Asked read = verbs::asked_about(*path, about);
    const support::DeploymentFile& file = verbs::kind_of(read, asked.kind()).file;
    return verbs::engine_diff_document(verbs::engine_diff(first, second, file.oracle, file.deployment));
  });
}

nb::dict sim_of(const std::string& path, const nb::dict& given, const std::optional<std::string>& engine, const std::string& oracle) {
  const Arguments asked(given, "sim");
  const verbs::SimRequest request{.path = path,
                                  .asked = asked_for(given, engine, oracle),
                                  .layer = asked.kind(),
                                  .backend = asked.text("backend"),
                                  .libraries = families::libraries_asked_by(deployment::release_named(engine.value_or(default_engine()))),
                                  .launch = support::launch_of(asked.text("launch")),
                                  .tokens = asked.number("tokens", 4),
                                  .seed = asked.number("seed", 1),
                                  .experts = asked.number("experts", 0),
                                  .sample = asked.number("sample", 0)};
  const bool compare = asked.flag("compare");
  return document_of([&] {
    const sim::Scenario scenario = verbs::scenario_of(request);
    const auto silent = [](const std::string&, double) {};
    if (compare) return verbs::comparison_document(scenario, sim::compare_backends(scenario, silent));
    return verbs::simulation_document(scenario, verbs::simulated(scenario, request, sim::in_process(), silent));
  });
}

nb::dict verify(const std::string& path, const nb::dict& given, const Lists& lists, const std::vector<int>& sizes,
                const std::optional<std::string>& engine) {
  const Arguments asked(given, "verify");
  sim::VerifyRequest request{.checkpoint = path,
                             .platforms = list_of(lists, "platforms"),
                             .backends = list_of(lists, "backends"),
                             .engine = engine.value_or(default_engine()),
                             .env = asked_for(given, engine, {}).env,
                             .tp = sizes,
                             .dp = static_cast<int>(asked.number("ranks", 1)),
                             .expert_parallel = asked.flag("expert_parallel"),
                             .contracts = list_of(lists, "contracts"),
                             .launch = asked.text("launch"),
                             .layers = static_cast<int>(asked.number("layers", 0)),
                             .experts = asked.number("experts", 0),
                             .layer_group = static_cast<int>(asked.number("layer_group", 0)),
                             .tokens = asked.number("tokens", 4),
                             .seed = asked.number("seed", 1),
                             .no_execute = asked.flag("no_execute")};
  for (std::string& contract : request.contracts) contract = support::contract_word(contract);
  request.libraries = families::libraries_asked_by(deployment::release_named(request.engine));
  return document_of([&] {
    using Garbage = checkpoint::Checkpoint::Garbage;
    const checkpoint::Checkpoint checkpoint(path, std::max(request.layer_group - 1, 0), deployment::engine_named(request.engine),
                                            request.layer_group > 0 ? Garbage::asked : Garbage::refused);
    return verbs::verify_document(sim::verify(checkpoint, sim::options_of(request)), request);
  });
}

/// `fields`: as of pack_checkpoint. `program`: who converts, for the index of the output.
nb::dict convert_checkpoint(const std::string& path, const std::string& output, int rank, std::optional<int> layer_group, const std::string& backend,
                            const Fields& fields, const std::string& program, bool force, bool any_platform) {
  checkpoint::ConvertOptions options = convert_options(backend, fields, rank, layer_group);
  options.program = program;
  options.force = force;
  options.asks_for_kernel = !any_platform;
  return document_of(
      [&] { return verbs::convert_document(checkpoint::convert_checkpoint(path, output, options), path, output, options.rank, false); });
}

/// The plan of such a conversion into `converted`, written to `output`; with `relative` paths are as seen from its directory.
nb::dict plan(const std::string& path, const std::string& output, const std::string& converted, int rank, std::optional<int> layer_group,
              const std::string& backend, const Fields& fields, const std::string& program, bool force, bool any_platform, bool relative) {
  checkpoint::ConvertOptions options = convert_options(backend, fields, rank, layer_group);
  options.program = program;
  options.asks_for_kernel = !any_platform;
  support::require_writable(output, force);
  return document_of([&] {
    const auto base = relative ? std::optional(std::filesystem::absolute(output).parent_path()) : std::nullopt;
    const checkpoint::JobPlan made = checkpoint::make_plan(path, converted, options, base);
    const std::string text = checkpoint::text_of(made);
    support::write_file(output, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), force);
    return verbs::plan_document(made);
  });
}

}  // namespace

void bind_verbs(nb::module_& module) {
  module.def("matrix", matrix, nb::arg("given"), nb::arg("lists"), nb::arg("engine").none());
  module.def("engine_diff", engine_diff, nb::arg("before"), nb::arg("after"), nb::arg("path").none(), nb::arg("given"));
  module.def("sim", sim_of, nb::arg("path"), nb::arg("given"), nb::arg("engine").none(), nb::arg("oracle"));
  module.def("verify", verify, nb::arg("path"), nb::arg("given"), nb::arg("lists"), nb::arg("sizes"), nb::arg("engine").none());
  module.def("convert_checkpoint", convert_checkpoint, nb::arg("path"), nb::arg("output"), nb::arg("rank"), nb::arg("layer_group").none(),
             nb::arg("backend"), nb::arg("fields"), nb::arg("program"), nb::arg("force"), nb::arg("any_platform"));
  module.def("plan", plan, nb::arg("path"), nb::arg("output"), nb::arg("converted"), nb::arg("rank"), nb::arg("layer_group").none(),
             nb::arg("backend"), nb::arg("fields"), nb::arg("program"), nb::arg("force"), nb::arg("any_platform"), nb::arg("relative"));
}

}  // namespace mx::python
