#pragma once
// What an engine answers for a deployment, and the document that says it: `mxact select --json`, and a dict in Python.

#include <string>
#include <vector>

#include "model/audit/resolve.hpp"
#include "model/audit/strict.hpp"
#include "sim/deployment_file.hpp"
#include "support/json.hpp"

namespace mx::sim {

struct SelectAnswer {
  oracle::Resolution resolution;         ///< the decision has its trace, with texts
  std::vector<oracle::Skipped> skipped;  ///< under `strict`: what the engine would have taken
};

/// Asks the oracle of the file; `strict`: never a backend whose kernel's needs are broken. Throws as select does.
SelectAnswer ask(const DeploymentFile& file, bool strict);

/// True where the oracle says whether one activation scale may serve the experts of all ranks.
bool says_global_sf(const oracle::OracleTables& tables);

/// The members of the document behind its head: "engine", "oracle", the two keys, "choice" with "setup" or "refusal", "failure", "trace"; under
/// `strict` also "skipped".
Json answer_json(const DeploymentFile& file, const SelectAnswer& answer, bool strict);

/// What follows from a resolution's choice: "allocated", "prepared", "quant_config", "kernel".
Json setup_json(const oracle::Resolution& resolution);

}  // namespace mx::sim
