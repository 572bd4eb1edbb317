#pragma once
// A matrix of a model that was read from its configuration: one section for each kind of its layers.

#include "verbs/matrix/matrix.hpp"

namespace mx::verbs {

/// Fills the sections of a matrix whose platforms and spreads are set. Throws as run_matrix says.
void serve_matrix(Matrix& matrix, const MatrixRequest& request, engine::Detail detail);

}  // namespace mx::verbs
