#pragma once
// Who moves the bytes of tensors wherever this folder converts and restores: the fast twin. What it made is still compared by the model.

#include "kernels/relayout/plan.hpp"
#include "model/layout/packed.hpp"

namespace mx::sim {

inline constexpr layout::Mover& kMover = kernels::relayout::moved;

}  // namespace mx::sim
