#pragma once
// Decisions of the oracles as vectors: deployments put to each oracle, in the form of recorded cases (golden/witness/ORACLE.md), so that
// `mxact witness` reads them back.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "model/deployment/deployment.hpp"

namespace mx::golden {

/// One file of decisions with its file of verdicts: how many rows of each factor it takes, from the first on.
struct OracleSet {
  std::string_view name;  ///< "selections.grid": X.jsonl and X_support.jsonl
  std::size_t parallelisms;
  std::size_t layers;
  std::size_t wishes;
  bool core;  ///< part of the committed set
};
std::span<const OracleSet> all_oracle_sets();

/// One case: an id that names its factors, the oracle, the deployment.
using TakeOracleCase = std::function<void(const std::string& id, std::string_view oracle, const deployment::Deployment& deployment)>;
/// Every case of a set, in a fixed order: oracle and keys by platform by parallelism by layer by wish.
void for_each_oracle_case(const OracleSet& set, const TakeOracleCase& take);

/// Both files of a set, and what the manifest says of them.
struct OracleFiles {
  std::string cases;
  std::string support;
  std::size_t count = 0;
  std::size_t refusals = 0;  ///< cases that the engine answers with an exception
};
OracleFiles oracle_files(const OracleSet& set);

}  // namespace mx::golden
