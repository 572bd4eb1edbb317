#include "kernels/relayout/mover.hpp"

#include "kernels/relayout/tensor.hpp"

namespace mx::kernels::relayout {

const layout::Mover& mover_of(MoveBy by) { return by == MoveBy::plans ? kernels::relayout::kMoveByPlans : layout::kMoveByUnits; }

}  // namespace mx::kernels::relayout
