#pragma once
// --env: the engine's environment variables, alike in every verb that asks an engine.

#include <map>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "model/deployment/version.hpp"
#include "verbs/document/document.hpp"

namespace mx::cli {

/// Adds --env, for variables_of(); `settings` must outlive the parse.
Option add_env_option(Verb verb, std::vector<std::string>& settings);

/// NAME=VALUE of each. Throws Error(usage) for a setting without '=', a variable that is given twice, and one that no selection reads, with the
/// nearest known name.
std::map<std::string, std::string> variables_of(const std::vector<std::string>& settings);

/// The variables of the command line in the place of those that are set already.
void set_variables(std::map<std::string, std::string>& env, const std::vector<std::string>& settings);

/// A note for each variable that the engine's version does not read: "VLLM_MXFP4_USE_MARLIN changes nothing: vllm@2026-08 dropped it".
void note_variables(verbs::Document& document, const std::map<std::string, std::string>& env, deployment::Engine engine);

/// The same of --env as typed, at an engine as it was typed; empty: the default.
void note_variables(verbs::Document& document, const std::vector<std::string>& settings, std::string_view engine);

}  // namespace mx::cli
