// mxact audit: where the engine's choices break their kernels' needs, held against the ledger of known findings.

#include <fmt/core.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/engine_option.hpp"
#include "cli/needs_json.hpp"
#include "cli/output.hpp"
#include "cli/picture_file.hpp"
#include "cli/verbs.hpp"
#include "model/audit/deployment_text.hpp"
#include "model/audit/findings.hpp"
#include "model/audit/findings_text.hpp"
#include "model/engine/vllm/tables.hpp"
#include "sim/findings_file.hpp"

namespace mx::cli {
namespace {

struct AuditOptions {
  std::string engine;
  std::string oracle;
  bool json = false;
  std::string output;
  bool markdown = false;
  bool needs = false;
  bool force = false;
};

std::string info_of(const oracle::AuditReport& report, const oracle::Violation& violation) {
  return oracle::info_text(report.engine, violation.oracle, violation.smallest);
}

Json as_json(const oracle::AuditReport& report, const std::vector<std::string>& differences) {
  Json json = json_head("audit");
  json["engine"] = name_of(report.engine);
  json["deployments"] = report.deployments;
  json["choices"] = report.choices;
  json["checks"] = report.checks;
  json["findings"] = Json::array();
  for (const oracle::Violation& violation : report.violations) {
    Json finding = {
        {"oracle", violation.oracle}, {"backend", violation.backend}, {"kernel_class", violation.kernel_class}, {"need", violation.need->id}};
    add_need(finding, *violation.need);
    finding["times"] = violation.times;
    finding["smallest"] = info_of(report, violation);
    json["findings"].push_back(std::move(finding));
  }
  json["differences"] = differences;
  return json;
}

void print_text(const oracle::AuditReport& report) {
  std::string_view oracle, backend, kernel_class;
  for (const oracle::Violation& violation : report.violations) {
    if (violation.oracle != oracle || violation.backend != backend || violation.kernel_class != kernel_class) {
      oracle = violation.oracle, backend = violation.backend, kernel_class = violation.kernel_class;
      fmt::print("{} {}{}\n", oracle, backend, kernel_class.empty() ? "" : fmt::format(" ({})", kernel_class));
    }
    const oracle::KernelNeed& need = *violation.need;
    fmt::print("  {}: {}\n", need.id, need.statement);
    fmt::print("    {}: {}\n", oracle::name_of(need.effect), need.consequence);
    fmt::print("    {}: {}\n", oracle::name_of(need.grounds), source_text(need));
    fmt::print("    {}\n", info_of(report, violation));
  }
  fmt::print("{}: {} findings in {} deployments: {} choices, {} needs checked\n", name_of(report.engine), report.violations.size(),
             report.deployments, report.choices, report.checks);
}

/// What the kernels need, without asking the engine anything.
int show_needs(const AuditOptions& options, std::span<const std::string_view> oracles) {
  if (!options.output.empty()) require_svg(options.output, options.force);
  const Json json = needs_json(engine_named(options.engine), oracles);
  if (!options.output.empty()) write_picture(options.output, json, options.force);
  if (options.json) {
    print_json(json);
  } else if (options.output.empty()) {
    print_needs(json);
  }
  return 0;
}

int run_audit(const AuditOptions& options) {
  if (options.markdown) {
    fmt::print("{}", oracle::findings_markdown(sim::known_findings(), sim::known_places()));
    return 0;
  }
  const std::vector<std::string_view> one = {options.oracle};
  const std::span<const std::string_view> oracles = options.oracle.empty() ? oracle::oracle_names() : std::span<const std::string_view>(one);
  if (options.needs) return show_needs(options, oracles);
  const oracle::AuditReport report = oracle::audit(engine_named(options.engine), oracles);
  const std::vector<std::string> differences = oracle::differences(report, oracles, sim::known_findings());
  if (options.json) {
    print_json(as_json(report, differences));
  } else {
    print_text(report);
    for (const std::string& line : differences) fmt::print("differs from the ledger: {}\n", line);
  }
  return differences.empty() ? 0 : 1;
}

}  // namespace

void add_audit(Verb app, Action& action) {
  const Verb verb = app.add_verb("audit", "every place where an engine's choice breaks its kernel's needs (exit 1 when the ledger disagrees)");
  const auto options = std::make_shared<AuditOptions>();
  verb.add_option("--oracle", options->oracle, "this oracle alone: mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8, w4a8");
  const Option engine = add_engine_option(verb, options->engine);
  const Option json = verb.add_flag("--json", options->json, "machine-readable output");
  verb.add_flag("--markdown", options->markdown, "the ledger as the oracles' part of docs/findings.md, without an audit")
      .excludes(json)
      .excludes(engine);
  const Option needs = verb.add_flag("--needs", options->needs, "the constraint matrix instead: what each backend's kernels need");
  verb.add_option("-o,--output", options->output, "writes the constraint matrix, FILE.svg, instead of its table").needs(needs);
  verb.add_flag("--force", options->force, "overwrite the file");
  verb.callback([&action, options] { action = [options] { return run_audit(*options); }; });
}

}  // namespace mx::cli
