// XPU: MXFP4 as loaded, FP8 and MXFP8 transposed. Source: spec layouts 8.2.

#include <array>

#include "props/families/matrix_formula.hpp"
#include "props/families/xpu/family.hpp"

namespace mx::props {
namespace {

using layout::WeightFormat;

/// Weights; and scales with rows and columns in the later version.
Memory transposed_place(layout::Role role, const families::Setting& setting, const Matrix& sizes) {
  const bool moves = layout::is_weight(role) || (layout::is_scale(role) && setting.engine == deployment::kVllm2026_08);
  return moves ? transposed(sizes) : kept(sizes);
}

constexpr BackendFormula fp8(WeightFormat format, deployment::Versions engines, std::int64_t tile_i, std::int64_t tile_h) {
  return {format, "XPU", engines, tile_i, tile_h, nullptr, loaded_bits, transposed_place, as_loaded, nullptr, nullptr, nullptr};
}
constexpr deployment::Versions kMay = deployment::before(deployment::kVllm2026_08);
constexpr deployment::Versions kSinceAugust = deployment::since(deployment::kVllm2026_08);

constexpr std::array<BackendFormula, 8> kFormulas{
    mxfp4_as_loaded("XPU"),
    fp8(WeightFormat::fp8_tensor, deployment::since(deployment::kVllm2026_05), 16, 32),
    fp8(WeightFormat::fp8_channel, kMay, 16, 32),
    fp8(WeightFormat::fp8_channel, kSinceAugust, 16, 32),
    fp8(WeightFormat::fp8_block, kMay, 128, 128),
    fp8(WeightFormat::fp8_block, kSinceAugust, 128, 128),
    fp8(WeightFormat::mxfp8, kMay, 32, 64),
    fp8(WeightFormat::mxfp8, kSinceAugust, 32, 64),
};

}  // namespace

constinit const FamilyFormulas kXpuFormulas{.name = "xpu", .backends = kFormulas, .takes = &kXpuTakes};

}  // namespace mx::props
