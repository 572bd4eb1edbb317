#include "sim/verify/layer_config.hpp"

#include <optional>
#include <string>

#include "model/error.hpp"

namespace mx::sim {
namespace {

/// The routing of the layer as the engine calls it, and what else of it kernels depend on.
void set_routing(const checkpoint::Checkpoint& checkpoint, deployment::Engine engine, deployment::LayerConfig& config) {
  config.routing_method = checkpoint.source_form().use.routing;
  const std::optional<checkpoint::RouterFacts> router = checkpoint.router();
  if (!router) return;
  config.routing_method = checkpoint::routing_method(*router, config.experts_per_token, engine);
  config.expert_groups = router->grouped ? static_cast<int>(router->groups) : 0;
  config.topk_group = router->grouped ? static_cast<int>(router->topk_groups) : 0;
  config.has_correction_bias = router->correction;
  config.has_routed_scaling = router->factor != 1;
  config.router_weight_on_input = router->recipe != nullptr && router->recipe->weight_on == moe::WeightPlace::input;
}

/// Constants as the engine is told of them.
void set_activation(const checkpoint::LayerActivation& activation, deployment::LayerConfig& config) {
  constexpr double kAlpha = 1.702, kBeta = 1, kLimit = 7;
  const deployment::ActivationConstants& constants = activation.constants;
  config.activation = activation.name;
  if (constants == deployment::ActivationConstants{}) return;
  config.constants = constants;
  config.has_swiglu_alpha = constants.swiglu_alpha && (constants.swiglu_alpha != kAlpha || constants.swiglu_beta != kBeta);
  config.has_swiglu_limit = constants.swiglu_limit && (!activation.name.starts_with("SWIGLUOAI") || constants.swiglu_limit != kLimit);
}

}  // namespace

checkpoint::LayerActivation common_activation(const checkpoint::Checkpoint& checkpoint, int layers) {
  const checkpoint::LayerActivation first = checkpoint.activation(0);
  for (int layer = 1; layer < layers; ++layer) {
    const checkpoint::LayerActivation other = checkpoint.activation(layer);
    if (other == first) continue;
    throw Error(ErrorCode::unsupported,
                "layer " + std::to_string(checkpoint.layer_index(layer)) + " has the activation " + other.text() + ", layer " +
                    std::to_string(checkpoint.layer_index(0)) + " " + first.text() + ", for which the engine may take another kernel: --layers " +
                    std::to_string(layer) + " verifies those before it",
                checkpoint.path().string());
  }
  return first;
}

deployment::LayerConfig layer_config(const checkpoint::Checkpoint& checkpoint, const checkpoint::LayerActivation& activation,
                                     deployment::Engine engine) {
  const layout::Sizes sizes = checkpoint.sizes(0);
  deployment::LayerConfig config;
  config.num_experts = sizes.experts;
  config.experts_per_token = checkpoint.top_k();
  config.hidden = sizes.hidden;
  config.intermediate_per_partition = sizes.intermediate;
  set_activation(activation, config);
  config.is_act_and_mul = checkpoint.layout_form().gated;
  set_routing(checkpoint, engine, config);
  config.has_bias = checkpoint.has_bias();
  return config;
}

}  // namespace mx::sim
