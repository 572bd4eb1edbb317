#include "model/audit/findings.hpp"

#include <algorithm>

#include "model/audit/deployment_text.hpp"
#include "model/error.hpp"

namespace mx::audit {
namespace {

std::string name_of(std::string_view oracle, std::string_view backend, std::string_view kernel_class, std::string_view need) {
  return std::string(oracle) + " " + std::string(backend) + "/" + std::string(kernel_class) + " " + std::string(need);
}

std::string name_of(const FindingId& finding) { return name_of(finding.oracle, finding.backend, finding.kernel_class, finding.need); }

bool is_about(const Violation& violation, const Finding& finding) {
  return violation.oracle == finding.oracle && violation.backend == finding.backend && violation.kernel_class == finding.kernel_class &&
         violation.need->id == finding.need;
}

}  // namespace

const Finding* find_finding(std::span<const Finding> ledger, std::string_view oracle, std::string_view backend, std::string_view kernel_class,
                            std::string_view need) {
  for (const Finding& finding : ledger) {
    if (finding.oracle == oracle && finding.backend == backend && finding.kernel_class == kernel_class && finding.need == need) return &finding;
  }
  return nullptr;
}

const Finding* find_finding(std::span<const Finding> ledger, const families::Placement& placement, const families::KernelNeed& need) {
  const bool around = is_around(need);
  const Finding* finding =
      find_finding(ledger, placement.oracle, around ? kAnyBackend : placement.backend, around ? std::string_view() : placement.kernel_class, need.id);
  if (finding == nullptr || finding->smallest.quant_method == "own") return finding;
  return finding->smallest.quant_method == placement.deployment.quant_method ? finding : nullptr;
}

bool shows(const FindingId& finding, const deployment::Deployment& deployment) {
  return shows(kLedgerEngine, finding.oracle, finding.backend, finding.kernel_class, need_of(finding), deployment);
}

const families::KernelNeed& need_of(const FindingId& finding) {
  if (finding.need == no_needless_refusal().id) return no_needless_refusal();
  // "any" is in no list of backends: the needs around the kernel are left.
  for (const families::KernelNeed* need : needs_of(kLedgerEngine, finding.oracle, finding.backend, finding.kernel_class)) {
    if (need->id == finding.need) return *need;
  }
  throw Error(ErrorCode::usage, "no need " + name_of(finding));
}

std::vector<std::string> differences(const AuditReport& report, std::span<const std::string_view> oracles, std::span<const Finding> ledger) {
  std::vector<std::string> lines;
  for (const Violation& violation : report.violations) {
    const std::string name = name_of(violation.oracle, violation.backend, violation.kernel_class, violation.need->id);
    const Finding* known = find_finding(ledger, violation.oracle, violation.backend, violation.kernel_class, violation.need->id);
    if (known != nullptr && known->smallest == violation.smallest) continue;
    const std::string smallest = info_text(report.engine, violation.oracle, violation.smallest);
    if (known == nullptr) {
      lines.push_back("new: " + name + ": " + smallest);
    } else {
      lines.push_back("another smallest deployment: " + name + ": " + smallest +
                      "; the ledger has: " + info_text(kLedgerEngine, known->oracle, known->smallest));
    }
  }
  for (const Finding& finding : ledger) {
    if (std::find(oracles.begin(), oracles.end(), finding.oracle) == oracles.end()) continue;
    const bool seen = std::any_of(report.violations.begin(), report.violations.end(), [&](const Violation& v) { return is_about(v, finding); });
    if (!seen) lines.push_back("vanished: " + name_of(finding));
  }
  return lines;
}

}  // namespace mx::audit
