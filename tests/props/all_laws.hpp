#pragma once
// Every law of every part.

#include <vector>

#include "props/law.hpp"
#include "props/vectors/laws.hpp"

namespace mx::tests {

inline std::vector<props::Law> all_laws() {
  std::vector<props::Law> laws;
  for (std::span<const props::Law> part :
       {props::numeric_laws(), props::layout_laws(), props::moe_laws(), props::oracle_laws(), props::configuration_laws(), props::sim_laws(), props::checker_laws()})
    laws.insert(laws.end(), part.begin(), part.end());
  return laws;
}

}  // namespace mx::tests
