#pragma once
// Findings: where the engine's own choice breaks its kernel's needs. This is the ledger that the audit is held against: a violation that no row
// knows is a failure, and so is a row that the audit no longer sees.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/audit/audit.hpp"

namespace mx::oracle {

/// Whose choices the ledger is about.
inline constexpr Engine kLedgerEngine = kVllm2026_05;

/// One class of violations. Effect, grounds, consequence and reference are those of the need.
struct Finding {
  std::string_view oracle;
  std::string_view backend;  ///< or kAnyBackend
  std::string_view kernel_class;
  std::string_view need;      ///< id
  std::string_view smallest;  ///< INFO text of the smallest deployment that shows it
};

/// Every finding, in the order of the audit.
const std::vector<Finding>& findings();

/// The row of this violation, or null.
const Finding* find_finding(std::string_view oracle, std::string_view backend, std::string_view kernel_class, std::string_view need);
/// The row that knows that a placement breaks a need, or null. A row that takes a quantization method to show excuses no other one.
const Finding* find_finding(const Placement& placement, const KernelNeed& need);

/// The need that a finding is about. Throws Error(usage) when the tables have none of that id.
const KernelNeed& need_of(const Finding& finding);

/// True when the engine's answer to the deployment shows the finding.
bool shows(const Finding& finding, const Deployment& deployment);

/// What an audit of these oracles and the ledger disagree about, one line each; empty when they agree.
std::vector<std::string> differences(const AuditReport& report, std::span<const std::string_view> oracles);

}  // namespace mx::oracle
