#pragma once
// Which form a checkpoint has: by the names of its tensors, then their dtypes, then its configuration.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/checkpoint/checkpoint_files.hpp"
#include "sim/checkpoint/source_forms.hpp"

namespace mx::sim {

/// An expert tensor's name, taken apart.
struct ExpertName {
  const Naming* naming;
  std::string_view before;  ///< "model.layers."
  int layer;
  std::string_view after;  ///< ".mlp"
  int expert;              ///< 0 where all experts share a tensor
  std::size_t projection;
  std::string_view suffix;
  std::string_view name;
  const LocatedTensor* at;
};

/// A tensor of a layer with experts that is none of theirs: behind `before` layer `after`.
struct LayerName {
  int layer;
  std::string_view suffix;
};

struct FormChoice {
  const SourceForm* form;
  const Naming* naming;
  std::vector<ExpertName> experts;  ///< in the order of their names
};

/// Throws Error(input) as find_experts does where names, dtypes or the configuration leave no form, or several.
FormChoice search_form(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where);

/// Layer number and the rest of a name that begins with `before`, digits, `after`; none for others. Throws Error(input) on a number that is none.
std::optional<LayerName> split_layer(std::string_view name, std::string_view before, std::string_view after, const std::string& place);

/// "DIRECTORY/FILE: tensor 'NAME'"
std::string place_of(const LocatedTensor& tensor, std::string_view name);

/// The name that a tensor of the form has.
std::string tensor_name(const Naming& naming, std::string_view prefix, int expert, const Projection& projection, const TensorRow& row);

/// The row of a suffix, or null.
const TensorRow* find_row(const SourceForm& form, std::string_view suffix);

}  // namespace mx::sim
