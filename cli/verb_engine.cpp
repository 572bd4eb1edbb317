// mxact engine: the versions of an engine, and what an upgrade changes.

#include <memory>
#include <string>

#include "cli/document.hpp"
#include "cli/layout_options.hpp"
#include "cli/serving_options.hpp"
#include "cli/verbs.hpp"
#include "verbs/engine/engine_document.hpp"

namespace mx::cli {
namespace {

struct DiffOptions {
  std::string before;
  std::string after;
  std::string file;
  ServingOptions serving;
  DocumentOptions out;
};

/// A release comes with the libraries that it asks for.
verbs::ComparedEngine compared(const std::string& name) { return {deployment::engine_named(name), libraries_of(name, {})}; }

verbs::EngineDiff diff_of(const DiffOptions& options) {
  const verbs::ComparedEngine before = compared(options.before);
  const verbs::ComparedEngine after = compared(options.after);
  if (options.file.empty()) {
    options.serving.require_none("one deployment: name its file or directory");
    return verbs::engine_diff(before, after);
  }
  verbs::AskedFor asked = options.serving.asked();
  asked.engine = options.before;
  const support::DeploymentFile file = verbs::kind_of(verbs::asked_about(options.file, asked), options.serving.layer).file;
  return verbs::engine_diff(before, after, file.oracle, file.deployment);
}

void add_list(Verb engine, Action& action) {
  const Verb verb = engine.add_verb("list", "the versions that are known, and what of each is held to recordings");
  const auto out = std::make_shared<DocumentOptions>();
  add_json_option(verb, *out);
  verb.callback([&action, out] { action = [out] { return show(verbs::engine_list_document(), *out); }; });
}

void add_diff(Verb engine, Action& action) {
  const Verb verb = engine.add_verb("diff", "what changes from one version to another: backend, class, sizes, the weights' memory, by cause");
  const auto options = std::make_shared<DiffOptions>();
  verb.add_option("FROM", options->before, "the version that runs today: vllm@2026-05, a release, a commit").required();
  verb.add_option("TO", options->after, "the version to upgrade to").required();
  verb.add_option("DEPLOYMENT", options->file,
                  "this deployment alone, or a model with --platform; without it every published checkpoint on every platform");
  add_placement_options(verb, options->serving, true);
  add_check_options(verb, options->out);
  verb.callback([&action, options] {
    action = [options] {
      require_outputs(options->out);
      return show(verbs::engine_diff_document(diff_of(*options)), options->out);
    };
  });
}

}  // namespace

void add_engine(Verb app, Action& action) {
  const Verb verb = app.add_verb("engine", "versions of the engine: list, diff");
  verb.require_verb();
  add_list(verb, action);
  add_diff(verb, action);
}

}  // namespace mx::cli
