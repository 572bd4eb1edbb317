#include "props/faults.hpp"

#include <vector>

#include "props/faults/tables.hpp"

namespace mx::props {

std::span<const FaultRow> all_faults() {
  static const std::vector<FaultRow> kAll = [] {
    std::vector<FaultRow> all;
    for (const auto& table : {numerics_faults(), kernels_faults(), layouts_faults(), moe_faults(), simulator_faults(), oracle_faults(),
                              version_faults(), configuration_faults(), checker_faults()}) {
      all.insert(all.end(), table.begin(), table.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace mx::props
