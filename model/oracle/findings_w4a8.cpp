// The ledger of the w4a8 oracle: see findings.hpp.

#include <array>

#include "model/oracle/findings_tables.hpp"

namespace mx::oracle {
namespace {

constexpr std::array<Finding, 0> kFindings{};

}  // namespace

std::span<const Finding> w4a8_findings() { return kFindings; }

}  // namespace mx::oracle
