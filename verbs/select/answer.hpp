#pragma once
// What an engine answers for a deployment, and the document that says it: `mxact select`, and a dict in Python.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/audit/needs.hpp"
#include "model/audit/resolve.hpp"
#include "model/audit/strict.hpp"
#include "support/deployment_file.hpp"
#include "support/json.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

struct SelectAnswer {
  audit::Resolution resolution;         ///< the decision has its trace, with texts
  deployment::Deployment deployment;    ///< that it answers for; under `strict` as StrictDecision has it
  std::vector<audit::Skipped> skipped;  ///< under `strict`: what the engine would have taken
  std::string reached_by;               ///< under `strict`: as StrictDecision has it
};

/// Asks the oracle of the file; `strict`: never a backend whose kernel's needs are broken. Throws as select does.
SelectAnswer ask(const support::DeploymentFile& file, bool strict);

/// What a choice of a backend breaks.
struct BrokenNeed {
  std::string_view kernel_class;
  const families::KernelNeed* need;
};
/// The need that the first class of a backend breaks, when each of its classes breaks one for this deployment; nothing when some class keeps all.
/// Throws Error(usage) for a backend that is none of the oracle's.
std::optional<BrokenNeed> broken_by(const support::DeploymentFile& file, std::string_view backend);

/// "engine", "oracle", the two keys, "choice" with "setup" or "refusal", "broken", "failure", "trace"; under `strict` also "skipped" and
/// "reached_by". `explain`: the text has the trace and the setup too.
verbs::Document select_document(const support::DeploymentFile& file, const SelectAnswer& answer, bool strict, bool explain);

/// All that is broken of one deployment: what select says of it, exit 1 where the choice does not meet a need, 4 where the engine raises.
verbs::Document deployment_audit_document(const support::DeploymentFile& file);

/// "broken": the needs that a choice does not meet, in the text a line each. `strict`: a search that avoids them was made already.
void add_broken(verbs::Document& document, const std::vector<const families::KernelNeed*>& broken, bool strict);

/// What that document says, without its head.
support::Json answer_json(const support::DeploymentFile& file, const SelectAnswer& answer, bool strict);

/// What follows from a resolution's choice: "setup" with "allocated", "prepared", "quant_config", "kernel"; in the text where `explain`.
void add_setup(verbs::Document& document, const audit::Resolution& resolution, bool explain);

}  // namespace mx::verbs
