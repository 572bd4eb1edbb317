#pragma once
// Which form the experts of each layer have: by the names of its tensors, then their dtypes and shapes, then what the configuration says of the
// layer.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint_files.hpp"
#include "checkpoint/source_forms.hpp"

namespace mx::checkpoint {

/// An expert tensor's name, taken apart.
struct ExpertName {
  const Naming* naming;
  std::string_view before;  ///< "model.layers."
  int layer;
  std::string_view after;  ///< ".mlp"; may be empty
  int expert;              ///< 0 where all experts share a tensor
  std::size_t projection;
  std::string_view suffix;
  std::string_view name;
  const LocatedTensor* at;
};

/// What a configuration and the tensors of a layer say against each other.
struct Disagreement {
  std::string place;  ///< of the tensor; empty: nothing
  std::string text;   ///< the module, what decides, what the engine does
  bool loads = false;  ///< the engine loads the tensors all the same, and computes something else
};

/// The experts of one layer, and what they are.
struct LayerForm {
  const SourceForm* form;
  const Naming* naming;
  bool gated;                       ///< false: one of gate and up has no tensor at all, and the model's activation takes one
  std::string left;                 ///< where the configuration says that the layer is not quantized; empty: nowhere
  Disagreement disagreement;        ///< of the configuration and the tensors
  std::vector<ExpertName> experts;  ///< in the order of their names; all begin alike
};

/// Where a layer's experts lie: what stands before the number, the number, what follows.
struct LayerPlace {
  std::string_view before;
  int layer;
  std::string_view after;
  friend auto operator<=>(const LayerPlace&, const LayerPlace&) = default;
};

/// Every layer with experts, and where the configuration gives it another method than the tensors have. Throws Error(input) where names, dtypes, shapes or the configuration leave no form of a layer, or several; where nothing
/// is named as experts are.
std::map<LayerPlace, LayerForm> search_forms(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where);

/// "DIRECTORY/FILE: tensor 'NAME'"
std::string place_of(const LocatedTensor& tensor, std::string_view name);

/// The name that a tensor of the form has.
std::string tensor_name(const Naming& naming, std::string_view prefix, int expert, const Projection& projection, std::string_view suffix);

/// The row of a suffix, or null.
const TensorRow* find_row(const SourceForm& form, std::string_view suffix);

/// Elements that share a scale along K; 1 where scales do not group K.
std::int64_t group_of(const SourceForm& form);

/// Whether a tensor holds one number, as [], [1] or [1, 1], or one for each of so many experts, as [E], [E, 1] or [E, 1, 1].
bool is_number(const support::TensorView& view, std::int64_t experts);

/// Whether a row's numbers are scales of squares of 128 x 128.
bool in_squares(const TensorRow& row);

/// Sizes that a tensor's shape stands for, as far as it says: of rows N and columns K of one matrix, and experts.
struct MatrixSizes {
  std::int64_t experts = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};
/// None where the shape is not one of the row's. `bits` of one element: a shape counts elements.
std::optional<MatrixSizes> matrix_of(const TensorRow& row, const support::TensorView& view, std::int64_t group);
/// The shape of a row that a tensor of these sizes has.
std::vector<std::int64_t> shape_of(const ShapeRow& row, const MatrixSizes& sizes, int bits, std::int64_t group);

}  // namespace mx::checkpoint
