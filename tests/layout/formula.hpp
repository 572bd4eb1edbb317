#pragma once
// Address maps written as index arithmetic, for tests that hold programs against a document's formulas.

#include <cstdint>
#include <functional>
#include <vector>

#include "model/layout/layout.hpp"

namespace mx::tests {

using Map = std::vector<std::int64_t>;

inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// One matrix's map from the source of every address.
inline Map mapped(std::int64_t count, const std::function<std::int64_t(std::int64_t)>& source) {
  Map map;
  for (std::int64_t address = 0; address < count; ++address) map.push_back(source(address));
  return map;
}

}  // namespace mx::tests
