// The engine's own CUTLASS kernels: NVFP4 with the rows as loaded.

#include <array>

#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"

namespace mx::layout {
namespace {

TensorPlan build(Role role, const Setting& setting) { return nvfp4_tiled(role, setting, rows_kept); }

constexpr std::array<BackendLayout, 1> kRows{
    nvfp4_tiled_row("vllm_cutlass", "VLLM_CUTLASS", kNvfp4Kept, since(kVllm2026_05), build),
};

}  // namespace

std::span<const BackendLayout> vllm_cutlass_layouts() { return kRows; }

}  // namespace mx::layout
