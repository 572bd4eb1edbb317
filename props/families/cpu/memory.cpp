// The CPU's kernels. Source: spec layouts 8.1.

#include <array>

#include "props/families/cpu/family.hpp"
#include "props/families/memory_formula.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::Role;
using layout::WeightFormat;

Memory fp4_place(Role role, const Setting&, const Matrix& sizes) {
  if (layout::is_weight(role)) return block_memory("cpu.convert_weight_packed.uint8", sizes, 8);
  return layout::is_scale(role) ? block_memory("cpu.convert_scale_packed", sizes, 8) : kept(sizes);
}

Matrix loaded(Role role, const Setting& setting) { return loaded_matrix(role, setting); }

Memory fp8_place(Role role, const Setting&, const Matrix& sizes) {
  return layout::is_weight(role) ? block_memory("cpu.convert_weight_packed.vnni2", sizes, 8) : kept(sizes);
}

constexpr std::array<BackendFormula, 3> kFormulas{{
    {WeightFormat::mxfp4, "CPU", deployment::since(deployment::kVllm2026_05), 32, 64, nullptr, loaded_with_f32_bias, fp4_place, as_loaded, nullptr,
     nullptr, f32_bias},
    {WeightFormat::fp8_tensor, "CPU", deployment::since(deployment::kVllm2026_05), 32, 64, nullptr, loaded, fp8_place, as_loaded, nullptr, nullptr,
     nullptr},
    {WeightFormat::fp8_block, "CPU", deployment::since(deployment::kVllm2026_05), 32, 64, nullptr, loaded, fp8_place, as_loaded, nullptr, nullptr,
     nullptr},
}};

}  // namespace

constinit const FamilyFormulas kCpuFormulas{.name = "cpu", .backends = kFormulas, .takes = &kCpuTakes, .blocks = &kCpuBlocks};

}  // namespace mx::props
