// mxact select: which backend the engine would choose for a deployment, and why.

#include <memory>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/serving_options.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "verbs/select/asked.hpp"
#include "verbs/select/deployment_diff.hpp"

namespace mx::cli {
namespace {

struct SelectOptions {
  std::vector<std::string> files;
  std::string oracle;
  ServingOptions serving;
  bool explain = false;
  bool strict = false;
  bool diff = false;
  bool write_info = false;
  DocumentOptions out;
};

int select(const SelectOptions& options) {
  if (options.files.size() != (options.diff ? 2 : 1)) {
    throw Error(ErrorCode::usage, options.diff ? "--diff takes two files" : "DEPLOYMENT is given twice; two files are for --diff");
  }
  if (options.diff) {
    options.serving.require_none("one deployment: --diff compares two files as they are");
    const deployment::Engine engine = deployment::engine_named(options.serving.engine);
    const verbs::AskedDeployment a = verbs::asked_deployment(options.files[0], options.oracle, engine);
    return show(verbs::deployment_diff_document(a, verbs::asked_deployment(options.files[1], options.oracle, engine)), options.out);
  }
  verbs::Asked asked = verbs::asked_about(options.files[0], options.serving.asked(options.oracle));
  if (options.serving.layer) asked.kinds = {verbs::kind_of(asked, options.serving.layer)};
  if (options.write_info) return show(verbs::info_document(asked), options.out);
  return show(verbs::select_document(asked, options.strict, options.explain), options.out);
}

}  // namespace

void add_select(Verb app, Action& action) {
  const Verb verb = app.add_verb("select", "which backend the engine would choose for a deployment (exit 4 when it refuses)");
  const auto options = std::make_shared<SelectOptions>();
  verb.add_option("DEPLOYMENT", options->files, std::string(kDeploymentOrModel) + "; two INFO files with --diff").required();
  verb.add_option("--oracle", options->oracle,
                  "of an INFO file: mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8 or w4a8, instead of its own (default mxfp4)");
  add_serving_options(verb, options->serving, true);
  const Option explain =
      verb.add_flag("--explain", options->explain, "list every candidate with its first failing check, and what follows from the choice");
  const Option strict = verb.add_flag("--strict", options->strict, "never a backend whose kernel's needs are broken; says what was skipped and why");
  verb.add_flag("--diff", options->diff, "why two deployments get different answers: inputs that differ, where the searches part")
      .excludes(explain)
      .excludes(strict);
  verb.add_flag("--write-info", options->write_info, "prints the INFO text that the deployment stands for, of each kind of a model's layers")
      .excludes(explain)
      .excludes(strict);
  add_json_option(verb, options->out, "machine-readable output, always with the trace");
  verb.callback([&action, options] { action = [options] { return select(*options); }; });
}

}  // namespace mx::cli
