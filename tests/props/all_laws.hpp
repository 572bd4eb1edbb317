#pragma once
// Every law of every part.

#include <vector>

#include "props/law.hpp"
#include "props/vectors/laws.hpp"

namespace mx::props {

inline std::vector<Law> all_laws() {
  std::vector<Law> laws;
  for (std::span<const Law> part : {numeric_laws(), layout_laws(), moe_laws(), oracle_laws(), sim_laws(), checker_laws()})
    laws.insert(laws.end(), part.begin(), part.end());
  return laws;
}

}  // namespace mx::props
