#pragma once
// The activation of a model's experts, as its configuration names it.

#include <string_view>

#include "checkpoint/checkpoint_files.hpp"
#include "model/deployment/deployment.hpp"
#include "model/moe/activation.hpp"

namespace mx::checkpoint {

/// The activation of one layer.
struct LayerActivation {
  std::string_view name;                      ///< the engine's
  deployment::ActivationConstants constants;  ///< the model's; none where it gives none
  friend bool operator==(const LayerActivation&, const LayerActivation&) = default;
  /// The constants as fp32 bits; 0 where there is none, and for a limit that is low.
  moe::ActivationConstants bits() const;
  /// Whether there is a limit that is 0 or below it: some kernels take it for none, others bound by it.
  bool limit_is_low() const;
  /// "SILU, limit 7"
  std::string text() const;
};

/// Whether experts of the model may have no gate: the configuration names an activation of one input, or none.
bool may_lack_gate(const CheckpointConfig& config);

/// What the configuration says of a layer, else `usual`, of experts without gate the one of one input. `alternates`: rows of gate and up do, as
/// gpt-oss has them. Throws Error(unsupported) for a word that no activation of the engine is known by, and for constants that the engine's takes
/// none of; Error(input) for a constant that is no number.
LayerActivation activation_of(const CheckpointConfig& config, int layer, bool gated, bool alternates, std::string_view usual);

/// The engine's name of a layer's activation as its conversions see it: what activation_of says, of gpt-oss SWIGLUOAI in every order, and "another"
/// for a word that it throws for, which no converter asks for. Throws Error(input) as activation_of does for a limit. Source: vllm models/gpt_oss.py,
/// which passes SWIGLUOAI whatever the configuration says.
std::string_view converted_activation(const CheckpointConfig& config, int layer, bool gated, bool alternates, std::string_view usual);

}  // namespace mx::checkpoint
