// The engine's own CUTLASS kernels with NVFP4. Source: spec layouts 10.

#include <array>

#include "props/families/matrix_formula.hpp"

namespace mx::props {
namespace {

constexpr std::array<BackendFormula, 1> kFormulas{nvfp4_tiled("VLLM_CUTLASS", tile_padded, gate_then_up)};

}  // namespace

std::span<const BackendFormula> vllm_cutlass_backend_formulas() { return kFormulas; }

}  // namespace mx::props
