// The engine's emulation takes what is loaded. Source: spec layouts 8.2.

#include <array>

#include "props/families/emulation/family.hpp"
#include "props/families/matrix_formula.hpp"

namespace mx::props {
namespace {

constexpr std::array<BackendFormula, 3> kFormulas{{
    mxfp4_as_loaded("EMULATION"),
    {layout::WeightFormat::nvfp4, "EMULATION", deployment::since(deployment::kVllm2026_05), 32, 64, nullptr, loaded_bits, kept_place, as_loaded,
     nullptr, nullptr, nullptr},
    fp8_as_loaded(layout::WeightFormat::mxfp8, "EMULATION", deployment::since(deployment::kVllm2026_08)),
}};

}  // namespace

constinit const FamilyFormulas kEmulationFormulas{.name = "emulation", .backends = kFormulas, .takes = &kEmulationTakes};

}  // namespace mx::props
