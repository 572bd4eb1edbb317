#pragma once
// Findings: where the engine's own choice breaks its kernel's needs. The ledger that the audit is held against is data (findings_*.info beside this
// file, read by support/findings_file.hpp): a violation that no row of it knows is a failure, and so is a row that the audit no longer sees.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/audit/audit.hpp"

namespace mx::audit {

/// Whose choices the ledger is about.
inline constexpr deployment::Engine kLedgerEngine = deployment::kVllm2026_05;

/// Which class of violations. Effect, grounds, consequence and reference are those of the need.
struct FindingId {
  std::string oracle;
  std::string backend;       ///< or kAnyBackend
  std::string kernel_class;  ///< empty then
  std::string need;          ///< id
};

struct Finding : FindingId {
  deployment::Deployment smallest;  ///< that shows it
};

/// The ledger's row of this violation, or null.
const Finding* find_finding(std::span<const Finding> ledger, std::string_view oracle, std::string_view backend, std::string_view kernel_class,
                            std::string_view need);
/// The row that knows that a placement breaks a need, or null. A row that takes a quantization method to show excuses no other one.
const Finding* find_finding(std::span<const Finding> ledger, const families::Placement& placement, const families::KernelNeed& need);

/// The need that a finding is about. Throws Error(usage) when the tables have none of that id.
const families::KernelNeed& need_of(const FindingId& finding);

/// True when the engine's answer to the deployment shows the finding.
bool shows(const FindingId& finding, const deployment::Deployment& deployment);

/// What an audit of these oracles and the ledger disagree about, one line each; empty when they agree.
std::vector<std::string> differences(const AuditReport& report, std::span<const std::string_view> oracles, std::span<const Finding> ledger);

}  // namespace mx::audit
