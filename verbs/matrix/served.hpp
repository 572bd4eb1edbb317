#pragma once
// A matrix of a model that was read from its configuration: one section for each kind of its layers.

#include <deque>
#include <string>
#include <string_view>

#include "verbs/matrix/matrix.hpp"

namespace mx::verbs {

struct ServedRows {
  std::deque<std::string> words;  ///< what views of the rows point to
  std::deque<deployment::Model> models;
  std::deque<deployment::Scheme> schemes;
};

/// What a section says of one kind of a model's layers.
struct ServedWords {
  std::string_view name;  ///< "MODEL, layers 3-60"
  std::string_view file;  ///< its configuration
  std::string_view oracle;
  std::string_view weight_key;
  std::string_view activation_key;
};

/// Adds a section without answers whose model and scheme no table has: the matrix keeps their words. Throws as tables_of does.
MatrixSection& add_served(Matrix& matrix, const ServedWords& words);

/// Fills the sections of a matrix whose platforms and spreads are set. Throws as run_matrix says.
void serve_matrix(Matrix& matrix, const MatrixRequest& request, engine::Detail detail);

}  // namespace mx::verbs
