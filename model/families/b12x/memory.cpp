// B12X: NVFP4 with all up rows before all gate rows.

#include <array>

#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"

namespace mx::layout {
namespace {

TensorPlan build(Role role, const Setting& setting) { return nvfp4_tiled(role, setting, rows_up_first); }

constexpr std::array<BackendLayout, 1> kRows{
    nvfp4_tiled_row("b12x", "FLASHINFER_B12X", kNvfp4UpFirst, since(kVllm2026_05), build),
};

}  // namespace

std::span<const BackendLayout> b12x_layouts() { return kRows; }

}  // namespace mx::layout
