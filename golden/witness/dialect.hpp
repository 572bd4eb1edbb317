#pragma once
// The words of the later forms about one implementation's recipe: each states what the model's row does, and is held against it.

#include "golden/witness/fields.hpp"
#include "model/numerics/dequantize.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::golden {

/// Reads every such word that the entry has. Throws Unmodelled for one that says something else than the row, or of which the row knows nothing.
/// `source` is the type of the elements.
void require_dialect(const Recipe& recipe, const Format& source, Fields& params);

/// The same for how blocks become numbers.
void require_dialect(const Dequantizer& row, Fields& params);

}  // namespace mx::golden
