// mxact audit: where the engine's choices break their kernels' needs, held against the ledger of known findings.

#include <fmt/core.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/progress_line.hpp"
#include "cli/serving_options.hpp"
#include "cli/verbs.hpp"
#include "model/audit/findings_text.hpp"
#include "model/engine/vllm/tables.hpp"
#include "support/findings_file.hpp"
#include "verbs/audit/audit_document.hpp"
#include "verbs/select/asked.hpp"

namespace mx::cli {
namespace {

struct AuditOptions {
  std::string file;
  std::string oracle;
  ServingOptions serving;
  bool ledger = false;
  bool needs = false;
  DocumentOptions out;
};

/// One oracle after the other, which is also the order of the whole audit.
audit::AuditReport audited(deployment::Engine engine, std::span<const std::string_view> oracles) {
  ProgressLine line;
  audit::AuditReport all{engine, 0, 0, 0, {}};
  for (std::size_t i = 0; i < oracles.size(); ++i) {
    line.show(fmt::format("oracle {}", oracles[i]), static_cast<double>(i) / static_cast<double>(oracles.size()));
    audit::AuditReport one = audit::audit(engine, oracles.subspan(i, 1));
    all.deployments += one.deployments;
    all.choices += one.choices;
    all.checks += one.checks;
    all.violations.insert(all.violations.end(), one.violations.begin(), one.violations.end());
  }
  return all;
}

int run_audit(const AuditOptions& options) {
  require_outputs(options.out);
  if (options.ledger) {
    fmt::print("{}", audit::findings_markdown(support::known_findings(), support::known_places()));
    return 0;
  }
  if (!options.file.empty()) {
    verbs::Asked asked = verbs::asked_about(options.file, options.serving.asked(options.oracle));
    if (options.serving.layer) asked.kinds = {verbs::kind_of(asked, options.serving.layer)};
    return show(verbs::audit_document_of(asked), options.out);
  }
  options.serving.require_none("one deployment: name its file or directory");
  const std::vector<std::string_view> one = {options.oracle};
  const verbs::AskedEngine asked = verbs::asked_engine(options.serving.engine);
  const deployment::Engine engine = asked.engine;
  const std::span<const std::string_view> oracles = options.oracle.empty() ? engine::oracle_names(engine) : std::span<const std::string_view>(one);
  if (options.needs) return show(verbs::needs_document(asked, oracles), options.out);
  return show(verbs::audit_document(audited(engine, oracles), asked, oracles, support::known_findings()), options.out);
}

}  // namespace

void add_audit(Verb app, Action& action) {
  const Verb verb = app.add_verb("audit", "every place where an engine's choice breaks its kernel's needs (exit 1 when the ledger disagrees)");
  const auto options = std::make_shared<AuditOptions>();
  const Option file = verb.add_option("DEPLOYMENT", options->file,
                                      "INFO file of one deployment, or a model with --platform: every need that the engine's choice breaks there "
                                      "(exit 1; 4 where the engine raises)");
  verb.add_option("--oracle", options->oracle, "this oracle alone: mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8, w4a8");
  const Option engine = add_serving_options(verb, options->serving, true);
  const Option ledger =
      verb.add_flag("--ledger", options->ledger, "the ledger as a page of Markdown, without an audit").excludes(engine).excludes(file);
  const Option needs =
      verb.add_flag("--needs", options->needs, "the constraint matrix instead: what each backend's kernels need").excludes(ledger).excludes(file);
  add_picture_option(verb, options->out, "writes the constraint matrix, FILE.svg, instead of its table").needs(needs);
  add_check_options(verb, options->out).excludes(ledger);
  verb.callback([&action, options] { action = [options] { return run_audit(*options); }; });
}

}  // namespace mx::cli
