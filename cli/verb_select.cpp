// mxact select: which backend the engine would choose for a deployment, and why.

#include <memory>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/engine_option.hpp"
#include "cli/env_option.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "support/deployment_file.hpp"
#include "verbs/select/answer.hpp"
#include "verbs/select/deployment_diff.hpp"

namespace mx::cli {
namespace {

struct SelectOptions {
  std::vector<std::string> files;
  std::string oracle;
  std::string engine;
  std::vector<std::string> variables;
  bool explain = false;
  bool strict = false;
  bool diff = false;
  DocumentOptions out;
};

int select(const SelectOptions& options) {
  if (options.files.size() != (options.diff ? 2 : 1)) {
    throw Error(ErrorCode::usage, options.diff ? "--diff takes two files" : "DEPLOYMENT is given twice; two files are for --diff");
  }
  const deployment::Engine engine = deployment::engine_named(options.engine);
  if (options.diff) {
    const verbs::AskedDeployment a = verbs::asked_deployment(options.files[0], options.oracle, engine);
    return show(verbs::deployment_diff_document(a, verbs::asked_deployment(options.files[1], options.oracle, engine)), options.out);
  }
  support::DeploymentFile file = support::load_deployment_file(options.files[0], options.oracle, engine);
  file.release = deployment::release_named(options.engine);
  set_variables(file.deployment.env, options.variables);
  return show(verbs::select_document(file, verbs::ask(file, options.strict), options.strict, options.explain), options.out);
}

}  // namespace

void add_select(Verb app, Action& action) {
  const Verb verb = app.add_verb("select", "which backend the engine would choose for a deployment (exit 4 when it refuses)");
  const auto options = std::make_shared<SelectOptions>();
  verb.add_option("DEPLOYMENT", options->files, "INFO file that describes the deployment (docs/examples); two of them with --diff").required();
  verb.add_option("--oracle", options->oracle, "mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8 or w4a8, instead of the file's (default mxfp4)");
  add_engine_option(verb, options->engine);
  const Option variables = add_env_option(verb, options->variables);
  const Option explain =
      verb.add_flag("--explain", options->explain, "list every candidate with its first failing check, and what follows from the choice");
  const Option strict = verb.add_flag("--strict", options->strict, "never a backend whose kernel's needs are broken; says what was skipped and why");
  verb.add_flag("--diff", options->diff, "why two deployments get different answers: inputs that differ, where the searches part")
      .excludes(explain)
      .excludes(strict)
      .excludes(variables);
  add_json_option(verb, options->out, "machine-readable output, always with the trace");
  verb.callback([&action, options] { action = [options] { return select(*options); }; });
}

}  // namespace mx::cli
