#pragma once
// Why two deployments get different answers: the inputs that differ, and where the two searches part.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/vllm/select.hpp"
#include "support/deployment_file.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// One input, by the name of its key in a deployment file: "parallel.tp". Values as text, "not set" for a variable that is absent.
struct InputDifference {
  std::string key;
  std::string a;
  std::string b;
};

/// What differs, in the order of the documents. Sizes are compared per rank, as the oracles see them.
std::vector<InputDifference> input_differences(const support::DeploymentFile& a, const support::DeploymentFile& b);

/// The first step (candidate, class, verdict) of the two searches that is not the same in both; none when all are. One trace may end there.
std::optional<std::size_t> first_parting(const engine::Decision& a, const engine::Decision& b);

/// A deployment with the answer to it.
struct AskedDeployment {
  std::string name;  ///< of the file, as typed
  support::DeploymentFile file;
  engine::Decision decision;  ///< with texts
};
/// `oracle` replaces that of the file unless empty. Throws as load_deployment_file and select do.
AskedDeployment asked_deployment(const std::string& file, std::string_view oracle, deployment::Engine engine);

/// `mxact select --diff`: inputs that differ, where the searches part, and both answers.
verbs::Document deployment_diff_document(const AskedDeployment& a, const AskedDeployment& b);

}  // namespace mx::verbs
