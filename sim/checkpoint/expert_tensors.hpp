#pragma once
// The expert tensors of a checkpoint: which form it has, and which tensor is what. One interpreter for every row of source_forms().

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/checkpoint/checkpoint_files.hpp"
#include "sim/checkpoint/source_forms.hpp"

namespace mx::sim {

/// A tensor of a layer's experts, where it lies in the files.
struct FoundTensor {
  const TensorRow* row;
  const Projection* projection;
  int expert;  ///< 0 where all experts share a tensor
  std::string_view name;
  const LocatedTensor* at;
};

struct FoundLayer {
  std::string prefix;                ///< "model.layers.0.mlp"
  std::vector<FoundTensor> experts;  ///< expert by expert, in the order of projections and rows; all of them there
  std::vector<FoundTensor> aside;    ///< what is known and not converted, as far as it is there, in the same order
  const LocatedTensor* router_weight = nullptr;
  const LocatedTensor* router_bias = nullptr;
  layout::Sizes sizes{};
};

struct FoundExperts {
  const SourceForm* form;
  const Naming* naming;
  std::map<int, FoundLayer> layers;  ///< by the number in the names

  bool has(Piece piece) const;
};

/// Finds the experts of every layer and holds their shapes and dtypes against their form and the configuration. Throws Error(input): no experts, a
/// tensor that no form knows, tensors of two forms, a form that only config.json could tell, a configuration that contradicts it, a missing tensor or
/// layer, dtypes or shapes that contradict each other or the configuration. `where` names the checkpoint.
FoundExperts find_experts(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where);

}  // namespace mx::sim
