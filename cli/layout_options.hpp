#pragma once
// Options that the layout verbs share.

#include <memory>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/verb.hpp"
#include "model/families/setting_keys.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::cli {

/// Choices as typed: one entry per option, "" when it was not given, and those of --set.
struct LayoutOptions {
  std::vector<std::string> values;
  bool expert_parallel = false;
  std::vector<std::string> sets;
  std::vector<std::string> libraries;
  std::vector<std::string> variables;
  std::string deployment;  ///< a file
  DocumentOptions out;

  /// Throws Error(usage) on a --set without "=".
  std::vector<verbs::KeyValue> fields() const;
  /// The same behind what the deployment says of a backend, if there is one. Throws as support::load_deployment_file and verbs::choices_on do.
  std::vector<verbs::KeyValue> fields_of(std::string_view backend) const;
  /// As typed; empty: it was not.
  std::string engine() const;
};

/// Adds --library, for families::choose_libraries; `libraries` is empty until it is given.
void add_library_option(Verb verb, std::vector<std::string>& libraries);
/// "--launch", for families::read_launch.
void add_launch_option(Verb verb, std::string& launch);

/// Releases as typed, behind those that the engine's own release asks for where it is not the one of its month. Throws as
/// families::choose_libraries does.
std::vector<std::string> libraries_of(const std::string& engine, const std::vector<std::string>& typed);

/// Throws Error(unsupported) where the version has a backend of this name, which WHICH= may come before, and no version has a layout of it. `engine`
/// as it was typed; empty: nothing.
void require_layout(std::string_view engine, std::string_view backend);

/// Whose conversion a version takes that has none of its own, what it changed since, and the libraries of a release. `engine` as it was typed; empty:
/// nothing.
void note_conversion(verbs::Document& document, std::string_view engine, std::string_view backend, layout::WeightFormat format);

/// The same of a backend's conversion; nothing of a building block.
void note_conversion(verbs::Document& document, std::string_view engine, const verbs::Subject& subject);

/// The variables of a layout's choices, --env's and a deployment's, that its version of the engine does not read.
void note_variables(verbs::Document& document, const std::vector<verbs::KeyValue>& fields, const verbs::Subject& subject);

/// Adds the option of one field of a setting; `value` is "" until it is given.
Option add_setting_option(Verb verb, const families::SettingKey& key, std::string& value);

/// Adds --shape, --tensor, --engine, those of a model, and all the others, --set and --json.
void add_layout_options(Verb verb, LayoutOptions& options);
/// Adds --deployment, which fields_of() reads.
void add_layout_deployment(Verb verb, LayoutOptions& options);

}  // namespace mx::cli
