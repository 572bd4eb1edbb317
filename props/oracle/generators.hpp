#pragma once
// Random deployments for the laws of the oracle, weighted so that every backend, every refusal and every step of the search is reached.

#include <span>
#include <string>
#include <string_view>

#include "model/oracle/deployment.hpp"
#include "model/oracle/select.hpp"

namespace mx::props {

/// What random deployments may contain.
struct DeploymentKind {
  bool wishes = true;             ///< moe_backend may be other than auto
  bool override_switches = true;  ///< the variables that end the search may be set
  bool key_override = true;       ///< quantization_config.moe.activation may be set
};

/// Everything but the hardware, which is that of the preset.
oracle::Deployment random_deployment(const oracle::PlatformPreset& preset, const DeploymentKind& kind);

/// The same deployment on another preset, with the software of that one.
oracle::Deployment moved_to(oracle::Deployment deployment, const oracle::PlatformPreset& preset);

/// One of the words, all equally likely, shrinking to the first.
std::string_view pick_word(std::span<const std::string_view> words);
/// True with that probability in percent, shrinking to false.
bool chance(int percent);

/// One line that says all that the oracle reads, for counterexamples.
std::string describe(const oracle::Deployment& deployment);
std::string describe(const oracle::Decision& decision);

}  // namespace mx::props
