#pragma once
// What an answer for a version or a release rests on that is not that version's own: one place for every verb and for Python.

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "model/engine/vllm/select.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// The version that was asked, and the release that named it; empty: a month or a commit of none.
struct AskedEngine {
  deployment::Engine engine;
  std::string_view release;
};
/// As engine_named and release_named read it.
AskedEngine asked_engine(std::string_view name);

/// Remarks of a document, each once.
class EngineNotes {
 public:
  EngineNotes(verbs::Document& document, const AskedEngine& asked) : document_(document), asked_(asked) {}

  /// Where the release differs and touches the deployment, and its variables that the version does not read.
  void about(std::string_view oracle, const deployment::Deployment& deployment);
  /// Variables that are set and that the version does not read.
  void variables(const engine::Environment& env);
  /// Where it differs in any deployment of the oracle.
  void about(std::string_view oracle);
  /// The libraries that the release requires.
  void libraries();
  /// What is known of the weights' memory of a choice: no layout, another version's conversion, a library's release that decides.
  void weights(std::string_view oracle, const deployment::Deployment& deployment, const engine::Choice& choice);
  /// A conversion that is another version's, as families::standing_text says it; nothing for an empty text.
  void conversion(std::string_view backend, std::string_view standing);
  /// That arithmetic is the one of the version on which it was run, where the asked version is a later one.
  void arithmetic();

 private:
  void add(std::string text);

  verbs::Document& document_;
  AskedEngine asked_;
  std::set<std::string> said_;
};

}  // namespace mx::verbs
