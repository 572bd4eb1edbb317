// The engine's own CUTLASS kernels, and HPC's, which take FP8 as loaded. Source: spec layouts 8.2 and 10.

#include <array>

#include "props/families/matrix_formula.hpp"
#include "props/families/vllm_cutlass/family.hpp"

namespace mx::props {
namespace {

using layout::WeightFormat;

constexpr std::array<BackendFormula, 7> kFormulas{
    nvfp4_tiled("VLLM_CUTLASS", tile_padded, gate_then_up),
    fp8_as_loaded(WeightFormat::fp8_tensor, "VLLM_CUTLASS"),
    fp8_as_loaded(WeightFormat::fp8_channel, "VLLM_CUTLASS"),
    fp8_as_loaded(WeightFormat::fp8_tensor, "BATCHED_VLLM_CUTLASS"),
    fp8_as_loaded(WeightFormat::fp8_channel, "BATCHED_VLLM_CUTLASS"),
    fp8_as_loaded(WeightFormat::fp8_tensor, "HPC", deployment::since(deployment::kVllm2026_08)),
    fp8_as_loaded(WeightFormat::fp8_block, "HPC", deployment::since(deployment::kVllm2026_08)),
};

}  // namespace

constinit const FamilyFormulas kVllmCutlassFormulas{.name = "vllm_cutlass", .backends = kFormulas, .takes = &kVllmCutlassTakes};

}  // namespace mx::props
