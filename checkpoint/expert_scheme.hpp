#pragma once
// From a quantization method and its words to what the engine's oracles are asked: which of them, with which keys.

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "model/deployment/deployment.hpp"

namespace mx::checkpoint {

/// What the method of a layer's experts hands to an oracle.
struct ExpertScheme {
  std::string oracle = "unquantized";
  std::string weight_key = "None";
  std::string activation_key = "None";
  bool allow_vllm_cutlass = false;
  std::string quant_method = "own";
  deployment::WeightOnlyCall weight_only = {};

  bool operator==(const ExpertScheme&) const = default;
};

/// Words of a configuration by path: "weights.num_bits" -> "4"; numbers, lists and null as JSON.
using Words = std::map<std::string, std::string>;

/// What is known of a layer's experts when their scheme is looked up.
struct SchemeWords {
  std::string_view method;                    ///< the engine's name, after its hooks: "modelopt_fp4"; empty: experts are not quantized
  const Words& whole;                         ///< the quantization configuration
  const Words* scheme;                        ///< what a table has for the layer; null: nothing
  std::span<const Words* const> groups = {};  ///< all of config_groups
  std::string_view expert_dtype = {};         ///< of the model, DeepSeek-V4's
  std::string path;                           ///< of `whole`, for errors: "quantization_config"
  deployment::Engine engine;
  bool batch_invariant = false;   ///< VLLM_BATCH_INVARIANT is on
  std::string_view dropped = {};  ///< a word of `whole` that does not count for these experts
};

/// Throws Error(input) for a word that is missing or contradicts another, Error(unsupported) for a scheme that the engine's method refuses or that no
/// row here has; both name the word and `where`. Source: vllm 0.33.0 and 0.29.0, quantization/ of each method, run on 62 configurations.
ExpertScheme expert_scheme(const SchemeWords& words, const std::string& where);

}  // namespace mx::checkpoint
