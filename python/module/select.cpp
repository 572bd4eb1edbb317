// What an engine answers for a deployment.

#include "model/engine/vllm/select.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "model/audit/deployment_text.hpp"
#include "model/deployment/deployment.hpp"
#include "model/deployment/devices.hpp"
#include "model/deployment/version.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/engine/vllm/variables.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "python/module/asked.hpp"
#include "support/deployment_file.hpp"
#include "verbs/select/answer.hpp"
#include "verbs/select/asked.hpp"

namespace mx::python {
namespace {

using support::DeploymentFile;
using support::Json;

constexpr std::int64_t kMostRanks = 4096;

deployment::Engine engine_of(const std::optional<std::string>& name) { return name ? deployment::engine_named(*name) : deployment::kDefaultEngine; }

/// What is asked: the choice, the choice that breaks no need, or what the choice breaks.
enum class Question : std::uint8_t { choice, strict, broken };
constexpr std::array<std::string_view, 3> kQuestions{"choice", "strict", "broken"};
Question question_named(const std::string& name) {
  const auto* const found = std::ranges::find(kQuestions, name);
  if (found == kQuestions.end()) throw Error(ErrorCode::usage, unknown_name("question", name, kQuestions));
  return static_cast<Question>(found - kQuestions.begin());
}

/// What `read` reads, asked without the lock of the interpreter.
template <class Read>
nb::dict answer_of(const Read& read, const std::optional<std::string>& engine, const std::string& question) {
  const Question asked = question_named(question);
  Json answer;
  {
    const nb::gil_scoped_release unlocked;
    DeploymentFile file = read();
    if (engine) file.release = deployment::release_named(*engine);
    answer = asked == Question::broken ? verbs::body_json(verbs::deployment_audit_document(file))
                                       : verbs::answer_json(file, verbs::ask(file, asked == Question::strict), asked == Question::strict);
  }
  return nb::borrow<nb::dict>(to_python(answer));
}

/// An INFO file, or a model's directory or configuration.
nb::dict select_path(const std::string& path, const nb::dict& given, const std::optional<std::string>& engine, const std::string& oracle,
                     const std::string& question) {
  const verbs::AskedFor asked = asked_for(given, engine, oracle);
  const Question what = question_named(question);
  Json answer;
  {
    const nb::gil_scoped_release unlocked;
    const verbs::Asked about = verbs::asked_about(path, asked);
    answer =
        verbs::body_json(what == Question::broken ? verbs::audit_document_of(about) : verbs::select_document(about, what == Question::strict, false));
  }
  return nb::borrow<nb::dict>(to_python(answer));
}

/// The INFO texts that a model's kinds of layers stand for: under "kinds", each with "layers" and "info".
nb::dict infos(const std::string& path, const nb::dict& given, const std::optional<std::string>& engine) {
  const verbs::AskedFor asked = asked_for(given, engine, {});
  return nb::borrow<nb::dict>(to_python(verbs::body_json(verbs::info_document(verbs::asked_about(path, asked)))));
}

nb::dict select_text(const std::string& text, const std::optional<std::string>& engine, const std::string& oracle, const std::string& question) {
  return answer_of([&] { return support::parse_deployment_file(text, "deployment", oracle, engine_of(engine)); }, engine, question);
}

nb::dict select_dict(const nb::dict& deployment, const std::optional<std::string>& engine, const std::string& oracle, const std::string& question) {
  const Json object = to_json(deployment, "deployment");
  return answer_of([&] { return support::deployment_file_of(object, "deployment", oracle, engine_of(engine)); }, engine, question);
}

/// The names that a deployment is made of; of the oracle's own, "oracles" has the names of `backend` for each.
nb::dict deployment_words(const std::optional<std::string>& engine) {
  Json platforms = Json::array();
  for (const deployment::PlatformPreset& preset : deployment::all_platforms()) platforms.push_back(preset.name);
  Json cards = Json::array();
  for (const deployment::Device& device : deployment::all_devices()) {
    if (!device.platform.empty()) cards.push_back(device.name);
  }
  Json software = Json::array();
  for (const deployment::SoftwareRow& row : deployment::software_rows()) software.push_back(row.name);
  Json oracles = Json::object();
  for (const std::string_view name : engine::oracle_names()) {
    const engine::OracleTables* const tables = engine::find_tables(engine_of(engine), name);
    if (tables != nullptr) oracles[std::string(name)] = engine::user_names(*tables);
  }
  return nb::borrow<nb::dict>(to_python({{"platform", platforms},
                                         {"card", cards},
                                         {"software", software},
                                         {"oracles", oracles},
                                         {"activation", deployment::activation_names()},
                                         {"routing", deployment::routing_names()},
                                         {"dtype", deployment::dtype_names()},
                                         {"all2all", deployment::all2all_names()},
                                         {"key", deployment::quant_key_names()},
                                         {"quantization_override", deployment::override_names()},
                                         {"quant_method", deployment::quant_method_names()},
                                         {"env", engine::env_names()}}));
}

/// The deployment as a line that `mxact select` reads.
std::string deployment_line(const nb::dict& deployment, const std::optional<std::string>& engine, const std::string& oracle) {
  const DeploymentFile file = support::deployment_file_of(to_json(deployment, "deployment"), "deployment", oracle, engine_of(engine));
  return audit::info_text(file.engine, file.oracle, file.deployment);
}

/// Class, need, statement and consequence of what a choice of the backend breaks whatever class of it runs.
std::optional<std::tuple<std::string, std::string, std::string, std::string>> broken_need(const nb::dict& deployment,
                                                                                          const std::optional<std::string>& engine,
                                                                                          const std::string& oracle, const std::string& backend) {
  const DeploymentFile file = support::deployment_file_of(to_json(deployment, "deployment"), "deployment", oracle, engine_of(engine));
  const std::optional<verbs::BrokenNeed> broken = verbs::broken_by(file, backend);
  if (!broken) return std::nullopt;
  return std::tuple(std::string(broken->kernel_class), std::string(broken->need->id), std::string(broken->need->statement),
                    std::string(broken->need->consequence));
}

}  // namespace

verbs::AskedFor asked_for(const nb::dict& given, const std::optional<std::string>& engine, const std::string& oracle) {
  const Json arguments = to_json(given, "select");
  verbs::AskedFor asked{.engine = engine.value_or(std::string(deployment::name_of(deployment::kDefaultEngine))), .oracle = oracle};
  const auto text = [&](const char* name, std::string& to) {
    if (const Json* const value = arguments.find(name)) to = value->text();
  };
  const auto size = [&](const char* name, std::optional<int>& to) {
    const Json* const value = arguments.find(name);
    if (value == nullptr) return;
    if (value->integer() < 1 || value->integer() > kMostRanks)
      throw Error(ErrorCode::usage, std::string(name) + " is " + value->dump() + ", must be in 1..4096");
    to = value->get<int>();
  };
  text("platform", asked.platform);
  text("all2all", asked.all2all);
  text("moe_backend", asked.moe_backend);
  size("tp", asked.tp);
  size("dp", asked.dp);
  if (const Json* const ep = arguments.find("ep")) asked.expert_parallel = ep->flag();
  if (const Json* const env = arguments.find("env")) {
    for (const support::JsonMember& one : env->items()) {
      if (std::ranges::find(engine::env_names(), one.key) == engine::env_names().end())
        throw Error(ErrorCode::usage, engine::unknown_variable(one.key));
      asked.env[one.key] = one.value.is_string() ? one.value.text() : one.value.dump();
    }
  }
  return asked;
}

void bind_select(nb::module_& module) {
  module.def("deployment_words", deployment_words, nb::arg("engine").none());
  module.def("deployment_line", deployment_line, nb::arg("deployment"), nb::arg("engine").none(), nb::arg("oracle"));
  module.def("broken_need", broken_need, nb::arg("deployment"), nb::arg("engine").none(), nb::arg("oracle"), nb::arg("backend"));
  module.def("select_path", select_path, nb::arg("path"), nb::arg("given"), nb::arg("engine").none(), nb::arg("oracle"), nb::arg("question"));
  module.def("infos", infos, nb::arg("path"), nb::arg("given"), nb::arg("engine").none());
  module.def("select_text", select_text, nb::arg("text"), nb::arg("engine").none(), nb::arg("oracle"), nb::arg("question"));
  module.def("select_dict", select_dict, nb::arg("deployment"), nb::arg("engine").none(), nb::arg("oracle"), nb::arg("question"));
}

}  // namespace mx::python
