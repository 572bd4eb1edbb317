#include "cli/env_option.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "model/engine/vllm/variables.hpp"
#include "model/error.hpp"

namespace mx::cli {

Option add_env_option(Verb verb, std::vector<std::string>& settings) {
  return verb.add_option("--env", settings, "NAME=VALUE, a variable that is set everywhere; repeat for several").repeated();
}

std::map<std::string, std::string> variables_of(const std::vector<std::string>& settings) {
  const auto known = engine::env_names();
  std::map<std::string, std::string> env;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) throw Error(ErrorCode::usage, fmt::format("--env takes NAME=VALUE, not '{}'", setting));
    const std::string name = setting.substr(0, equals);
    if (std::ranges::find(known, name) == known.end()) throw Error(ErrorCode::usage, engine::unknown_variable(name));
    if (!env.emplace(name, setting.substr(equals + 1)).second) throw Error(ErrorCode::usage, fmt::format("--env {} is given twice", name));
  }
  return env;
}

void set_variables(std::map<std::string, std::string>& env, const std::vector<std::string>& settings) {
  for (const auto& [name, value] : variables_of(settings)) env.insert_or_assign(name, value);
}

void note_variables(verbs::Document& document, const std::map<std::string, std::string>& env, deployment::Engine engine) {
  for (std::string& text : engine::unread_variables(env, engine)) document.note(std::move(text));
}

void note_variables(verbs::Document& document, const std::vector<std::string>& settings, std::string_view engine) {
  note_variables(document, variables_of(settings), engine.empty() ? deployment::kDefaultEngine : deployment::engine_named(engine));
}

}  // namespace mx::cli
