#pragma once
// Published models and the quantization schemes that their checkpoints come in. Tables: a matrix, the audit and the examples name these rows.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/deployment/deployment.hpp"

namespace mx::deployment {

/// What a checkpoint hands to an oracle.
struct Scheme {
  std::string_view name;  ///< for the command line: "fp8-block"
  std::string_view oracle;
  std::string_view weight_key;
  std::string_view activation_key;
  bool allow_vllm_cutlass = false;
  std::string_view title;  ///< for people
  std::string_view source;
};
/// Every scheme that an oracle of the engine is asked with.
std::span<const Scheme> schemes();
/// Throws Error(usage) with the nearest known name.
const Scheme& scheme_named(std::string_view name);

/// The expert layer of a published model. Sizes in elements; `intermediate` of the whole layer.
struct Model {
  std::string_view name;
  std::int64_t experts;
  std::int64_t top_k;
  std::int64_t hidden;
  std::int64_t intermediate;
  std::string_view activation = "SILU";
  std::string_view routing;
  bool bias = false;
  bool act_and_mul = true;
  bool router_weight_on_input = false;
  int expert_groups = 0;
  int topk_group = 0;
  bool correction_bias = false;
  bool routed_scaling = false;
  bool swiglu_limit = false;
  std::span<const std::string_view> published = {};  ///< schemes of its checkpoints
  std::string_view source = {};                      ///< whose config.json has the numbers, and checkpoints of the other schemes
};
std::span<const Model> models();
/// Throws Error(usage) with the nearest known name.
const Model& model_named(std::string_view name);

/// The layer on each of the ranks that share it: where they cannot share its intermediate size equally, the next larger share, as the engine's
/// loaders would pad it. Throws as derive does.
LayerConfig layer_of(const Model& model, const ParallelRequest& parallel);

/// Model, scheme and preset put together; nothing else is asked for and no variable is set.
Deployment deployment_of(const Model& model, const Scheme& scheme, const PlatformPreset& preset, const ParallelRequest& parallel);

}  // namespace mx::deployment
