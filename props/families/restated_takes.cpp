#include "props/families/restated_takes.hpp"

#include <vector>

#include "props/families/family.hpp"

namespace mx::props {

std::span<const Takes> all_takes() {
  static const std::vector<Takes> rows = [] {
    std::vector<Takes> joined;
    for (const FamilyFormulas* family : all_family_formulas()) {
      if (family->takes != nullptr) joined.insert(joined.end(), family->takes->begin(), family->takes->end());
    }
    return joined;
  }();
  return rows;
}

}  // namespace mx::props
