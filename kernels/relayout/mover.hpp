#pragma once
// Who moves the bytes of tensors wherever this folder converts, cuts and restores. What it made is still compared by the model.

#include "model/layout/packed.hpp"

namespace mx::kernels::relayout {

enum class MoveBy {
  plans,  ///< the fast twin
  model,  ///< the reference itself
};
const layout::Mover& mover_of(MoveBy by);  ///< lives as long as the program

}  // namespace mx::kernels::relayout
