#pragma once
// Random deployments for the laws of the oracles, weighted so that every backend, every refusal, every step of a search and both sides of every
// boundary are met.

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/select.hpp"

namespace mx::props {

/// What random deployments may contain.
struct DeploymentKind {
  bool wishes = true;             ///< moe_backend may be other than auto
  bool override_switches = true;  ///< the variables that steer a search may be set
  bool key_override = true;       ///< quantization_config.moe.activation may be set
  bool odd_texts = true;          ///< variables may hold what no parser takes
  bool plain = false;             ///< nothing that a class refuses for its own sake, and more variables than usual
  bool possible = false;          ///< devices that exist, packages that their engines come with or fewer, keys that a quantization method asks with
};

/// One of the six, all equally likely.
std::string_view random_oracle();

/// A deployment that the oracle has something to say about: its keys, names and variables are the likely ones.
deployment::Deployment random_deployment(std::string_view oracle, const DeploymentKind& kind);

/// A deployment and the oracle that it is for, drawn as one value.
struct Drawn {
  std::string_view oracle;
  deployment::Deployment deployment;
};
/// For RapidCheck's own list of drawn values, which is short: a failing law prints the deployment itself.
void showValue(const Drawn& drawn, std::ostream& out);
/// Within a property.
Drawn random_case(const DeploymentKind& kind);
Drawn random_case(std::string_view oracle, const DeploymentKind& kind);

/// So many, outside of a property; always the same ones.
std::vector<deployment::Deployment> sample_deployments(std::string_view oracle, const DeploymentKind& kind, int count);

/// One of the words, all equally likely, shrinking to the first.
std::string_view pick_word(std::span<const std::string_view> words);
/// True with that probability in percent, shrinking to false.
bool chance(int percent);

/// The INFO file that `mxact select` reads, for counterexamples: one key a line.
std::string info_file(std::string_view oracle, const deployment::Deployment& deployment);
std::string describe(const engine::Decision& decision);

}  // namespace mx::props
