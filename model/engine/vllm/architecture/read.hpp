#pragma once
// From a model's configuration to the layers that the engine builds: which have experts, and what each of them hands to an oracle.

#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/config_value.hpp"
#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {

/// Layers whose experts are alike.
struct LayerKind {
  std::vector<int> layers;         ///< their numbers, ascending
  deployment::LayerConfig config;  ///< intermediate_per_partition is that of the whole layer
};

/// How tokens are dealt out to experts, beside what the layers' configurations say. Nothing where the class has a function of its own.
struct RouterReading {
  std::string scoring;  ///< softmax, sigmoid, sqrtsoftplus; empty: a function of its own
  bool renormalizes = false;
  double factor = 1;  ///< of every weight
  int groups = 0;     ///< 0: experts are in none
  int topk_groups = 0;
};

struct ModelReading {
  const ArchitectureRow* row;
  std::string architecture;
  std::string model_type;
  std::string text_model_type;  ///< of the part that speaks of the text; empty: model_type
  int layers;
  int further_layers;  ///< behind the last one, for predicting further tokens
  std::int64_t heads;  ///< of attention
  bool shared_experts;
  RouterReading router;
  std::vector<LayerKind> kinds;
  std::vector<std::string> remarks;  ///< what a user would want to be told, a sentence each
  std::vector<std::string> ignored;  ///< fields of experts that the class does not read
};

/// What the engine's classes make of a configuration. `where`: the file, for errors. Throws Error(input) for a field that is missing without a
/// default, of another type or out of its range; Error(unsupported) for an architecture that has no row, a model without experts, and what the class
/// raises. Source: each row's own; defaults of transformers 5.20.2.
ModelReading read_model(const deployment::ConfigValue& config, const std::string& where, deployment::Engine engine,
                        const deployment::Hardware& hardware);

/// "0-2,5,7-11/2": runs of numbers, with their step where it is not 1.
std::string numbers_text(const std::vector<int>& numbers);

/// The sizes of the ranks as the model's class takes them: `sp` is tp where tokens are split over ranks before its experts.
/// Source: vllm config/parallel.py use_sequence_parallel_moe.
deployment::ParallelRequest parallel_of(const ModelReading& model, const deployment::ParallelRequest& asked, deployment::Engine engine);

/// A kind's layer on one of the ranks. Throws Error(input) where heads or the intermediate size cannot be shared, Error(unsupported) for what the
/// class raises (more ranks than experts), with `where`.
deployment::LayerConfig on_ranks(const ModelReading& model, const deployment::LayerConfig& layer, const deployment::ParallelRequest& parallel,
                                 deployment::Engine engine, const std::string& where);

}  // namespace mx::engine
