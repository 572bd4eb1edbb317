#pragma once
// Findings: where the engine's own choice breaks its kernel's needs. The law consults this ledger; a break that no row covers fails, and so does a
// row whose example no longer breaks.

#include <span>
#include <string_view>

#include "model/oracle/deployment.hpp"
#include "model/oracle/needs.hpp"

namespace mx::oracle {

struct Finding {
  std::string_view backend;
  std::string_view need;  ///< id of the kernel need that is broken
  std::string_view effect;
  std::string_view reference;  ///< where it is seen or reported
  /// Of the placements that break the need those that the reference speaks of: another activation, dtype or exchange is another finding.
  bool (*covers)(const Placement& placement);
  Deployment (*example)();  ///< the smallest deployment that shows it
};

std::span<const Finding> oracle_findings_mxfp4();

/// The row that covers the break of this need by this placement, or null.
const Finding* find_finding(std::string_view need, const Placement& placement);

}  // namespace mx::oracle
