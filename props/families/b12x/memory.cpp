// B12X with NVFP4. Source: spec layouts 10.

#include <array>

#include "props/families/matrix_formula.hpp"

namespace mx::props {
namespace {

constexpr std::array<BackendFormula, 1> kFormulas{nvfp4_tiled("FLASHINFER_B12X", tile_padded_up_first, up_then_gate)};

}  // namespace

std::span<const BackendFormula> b12x_backend_formulas() { return kFormulas; }

}  // namespace mx::props
