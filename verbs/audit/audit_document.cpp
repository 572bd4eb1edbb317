#include "verbs/audit/audit_document.hpp"

#include <fmt/core.h>

#include "model/audit/deployment_text.hpp"
#include "model/audit/findings_text.hpp"

namespace mx::verbs {
namespace {

using audit::AuditReport;
using audit::Violation;
using support::CheckEnd;

std::string info_of(const AuditReport& report, const Violation& violation) {
  return audit::info_text(report.engine, violation.oracle, violation.smallest);
}

std::string in_class(std::string_view kernel_class) { return kernel_class.empty() ? std::string() : fmt::format(" ({})", kernel_class); }

struct OfVersion {
  deployment::Engine engine;
  audit::AnswerThere answer;
};

/// What the versions after this one make of the finding's deployment, as far as they can be asked.
std::vector<OfVersion> answers_since(deployment::Engine engine, const Violation& violation) {
  std::vector<OfVersion> answers;
  for (const deployment::Engine later : deployment::known_engines()) {
    if (later.project != engine.project || later <= engine) continue;
    if (const auto answer = audit::answer_at(later, violation)) answers.push_back({later, *answer});
  }
  return answers;
}

/// "vllm@2026-08: mended; vllm@2026-11: refused"
std::string text_of_versions(const std::vector<OfVersion>& answers) {
  std::string text;
  for (const OfVersion& one : answers)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", deployment::name_of(one.engine), audit::name_of(one.answer));
  return text;
}

void add_findings(Document& document, const AuditReport& report) {
  std::string_view oracle, backend, kernel_class;
  Json findings = Json::array();
  for (const Violation& violation : report.violations) {
    const families::KernelNeed& need = *violation.need;
    Json finding = {{"oracle", violation.oracle}, {"backend", violation.backend}, {"kernel_class", violation.kernel_class}, {"need", need.id}};
    add_need(finding, need);
    finding["times"] = violation.times;
    finding["smallest"] = info_of(report, violation);
    const std::vector<OfVersion> later = answers_since(report.engine, violation);
    finding["later"] = Json::array();
    for (const OfVersion& one : later)
      finding["later"].push_back({{"engine", deployment::name_of(one.engine)}, {"answer", audit::name_of(one.answer)}});
    findings.push_back(std::move(finding));
    if (violation.oracle != oracle || violation.backend != backend || violation.kernel_class != kernel_class) {
      oracle = violation.oracle, backend = violation.backend, kernel_class = violation.kernel_class;
      document.line(fmt::format("{} {}{}", oracle, backend, in_class(kernel_class)));
    }
    document.line(fmt::format("  {}: {}", need.id, need.statement));
    document.line(fmt::format("    {}: {}", families::name_of(need.effect), need.consequence));
    document.line(fmt::format("    {}: {}", name_of(need.grounds), families::source_text(need)));
    if (!later.empty() && later.back().answer != audit::AnswerThere::shown) document.line("    " + text_of_versions(later));
    document.line(fmt::format("    {}", info_of(report, violation)));
  }
  document.value("findings", std::move(findings));
}

support::JunitCase case_of(const AuditReport& report, const Violation& violation, std::span<const audit::Finding> ledger) {
  const families::KernelNeed& need = *violation.need;
  const audit::Finding* known = audit::find_finding(ledger, violation.oracle, violation.backend, violation.kernel_class, need.id);
  const bool is_new = known == nullptr || !(known->smallest == violation.smallest);
  return {fmt::format("mxact.audit.{}", violation.oracle), fmt::format("{}{}: {}", violation.backend, in_class(violation.kernel_class), need.id),
          is_new && report.engine == audit::kLedgerEngine ? CheckEnd::failed : CheckEnd::skipped,
          fmt::format("{}: needs {}; otherwise {}: {}",
                      known == nullptr ? "new"
                      : is_new         ? "another smallest deployment"
                                       : "known",
                      need.statement, families::name_of(need.effect), need.consequence),
          info_of(report, violation)};
}

}  // namespace

Document audit_document(const AuditReport& report, const AskedEngine& asked, std::span<const std::string_view> oracles,
                        std::span<const audit::Finding> ledger) {
  Document document{"audit", std::string(deployment::name_of(report.engine))};
  document.value("deployments", report.deployments);
  document.value("choices", report.choices);
  document.value("checks", report.checks);
  add_findings(document, report);
  document.line(fmt::format("{}: {} findings in {} deployments: {} choices, {} needs checked", document.engine, report.violations.size(),
                            report.deployments, report.choices, report.checks));
  for (const Violation& violation : report.violations) document.cases.push_back(case_of(report, violation, ledger));
  const std::vector<std::string> differences = audit::differences(report, oracles, ledger);
  const bool held = report.engine == audit::kLedgerEngine;
  for (const std::string& line : differences) {
    document.line((held ? "differs from the ledger: " : "since " + std::string(deployment::name_of(audit::kLedgerEngine)) + ": ") + line);
    constexpr std::string_view kVanished = "vanished: ";
    if (held && line.starts_with(kVanished)) document.cases.push_back({"mxact.audit.ledger", line.substr(kVanished.size()), CheckEnd::failed, line});
  }
  document.value("differences", differences);
  if (!held)
    document.note("no ledger holds " + document.engine + ": what differs from that of " + std::string(deployment::name_of(audit::kLedgerEngine)) +
                  " fails nothing");
  note_release(document, asked, oracles);
  constexpr int kNothing = 5;
  if (report.checks == 0) document.note("nothing was checked: no deployments are written for what was asked");
  document.ended(report.checks == 0 ? kNothing : held && !differences.empty() ? 1 : 0);
  return document;
}

}  // namespace mx::verbs
