#pragma once
// The experts' tensors of a checkpoint: which layers it has, which tensor is what, and which layers belong together.

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/agreement.hpp"
#include "checkpoint/checkpoint_files.hpp"
#include "checkpoint/source_forms.hpp"

namespace mx::checkpoint {

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

/// Layers whose experts have one form, one place in the names and one size.
struct FoundGroup {
  const SourceForm* form;
  const Naming* naming;
  bool gated;
  bool further = false;              ///< behind the hidden layers: for predicting further tokens
  std::string left;                  ///< where the configuration says that it is not quantized; empty: nowhere
  Disagreement disagreement;         ///< of the configuration and the tensors, of its first layer
  std::string place;                 ///< "model.layers.N.mlp"
  std::map<int, FoundLayer> layers;  ///< by the number in the names
  std::map<const TensorRow*, std::string_view> suffixes;

  bool has(Piece piece) const;
  /// Projections that there are: without gate, one of w13.
  std::vector<const Projection*> projections() const;
  /// The form of the layers' memory. Only of what is converted.
  layout::Form layout() const { return {form->form.format, form->form.order, gated}; }
  std::string name_of(std::string_view prefix, int expert, const Projection& projection, const TensorRow& row) const;
};

/// Finds the experts of every layer and holds their shapes and dtypes against their form and the configuration. First the layer group that is the model:
/// that is converted, of its hidden layers, and has the most of them. Throws Error(input): no experts, a tensor that no form knows, tensors of two
/// forms in one layer, a form that only the configuration could tell, a configuration that contradicts it, a missing tensor or layer, dtypes or
/// shapes that contradict each other or the configuration. `where` names the checkpoint.
std::vector<FoundGroup> find_layer_groups(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where);

/// Throws Error(input) where the configuration and the tensors of a layer group disagree: the engine does not load the model, or computes garbage.
/// Layers for further tokens are of a model of their own, and are none of its. A layer group that is `asked` for by its number may be one whose
/// tensors the engine loads.
void require_agreement(std::span<const FoundGroup> groups, std::optional<int> asked = std::nullopt);

}  // namespace mx::checkpoint
