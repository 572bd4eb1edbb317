// The engine's emulation takes what is loaded. Source: spec layouts 8.2.

#include <array>

#include "props/families/matrix_formula.hpp"

namespace mx::props {
namespace {

constexpr std::array<BackendFormula, 1> kFormulas{mxfp4_as_loaded("EMULATION")};

}  // namespace

std::span<const BackendFormula> emulation_backend_formulas() { return kFormulas; }

}  // namespace mx::props
