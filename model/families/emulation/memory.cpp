// The engine's emulation: every format as loaded.

#include <array>

#include "model/families/emulation/family.hpp"
#include "model/families/memory_rows.hpp"

namespace mx::families {
namespace {

constexpr BackendLayout nvfp4() {
  BackendLayout row = nvfp4_row("emulation", "EMULATION", "weights and scales as loaded", deployment::since(deployment::kVllm2026_05), {}, as_loaded);
  row.ran.not_gated = false;
  row.source.path = "vllm/model_executor/layers/fused_moe/oracle/nvfp4.py";
  row.source.symbol = "convert_to_nvfp4_moe_kernel_format";
  return row;
}

constexpr std::array<BackendLayout, 3> kRows{
    as_loaded_row("emulation", "EMULATION"),
    nvfp4(),
    fp8_as_loaded_row("emulation", layout::WeightFormat::mxfp8, "EMULATION", deployment::since(deployment::kVllm2026_08)),
};

}  // namespace

constinit const std::span<const BackendLayout> kEmulationLayouts{kRows};

}  // namespace mx::families
