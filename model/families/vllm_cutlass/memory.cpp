// The engine's own CUTLASS kernels: NVFP4 with the rows as loaded, FP8 as loaded; and HPC's kernels, which take FP8 as loaded too.

#include <array>

#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"
#include "model/families/vllm_cutlass/family.hpp"

namespace mx::families {
namespace {

layout::TensorPlan build(layout::Role role, const Setting& setting) { return nvfp4_tiled(role, setting, rows_kept); }

constexpr BackendLayout fp8(layout::WeightFormat format, std::string_view backend) { return fp8_as_loaded_row("vllm_cutlass", format, backend); }
constexpr BackendLayout hpc(layout::WeightFormat format) {
  return fp8_as_loaded_row("vllm_cutlass", format, "HPC", deployment::since(deployment::kVllm2026_08));
}

constexpr std::array<BackendLayout, 7> kRows{
    nvfp4_tiled_row("vllm_cutlass", "VLLM_CUTLASS", kNvfp4Kept, deployment::since(deployment::kVllm2026_05), build),
    fp8(layout::WeightFormat::fp8_tensor, "VLLM_CUTLASS"),
    fp8(layout::WeightFormat::fp8_channel, "VLLM_CUTLASS"),
    read_alone(fp8(layout::WeightFormat::fp8_tensor, "BATCHED_VLLM_CUTLASS")),
    fp8(layout::WeightFormat::fp8_channel, "BATCHED_VLLM_CUTLASS"),
    hpc(layout::WeightFormat::fp8_tensor),
    hpc(layout::WeightFormat::fp8_block),
};

}  // namespace

constinit const std::span<const BackendLayout> kVllmCutlassLayouts{kRows};

}  // namespace mx::families
