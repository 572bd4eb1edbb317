// XPU: MXFP4 as loaded, FP8 and MXFP8 transposed.

#include <array>
#include <string>

#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"
#include "model/families/xpu/family.hpp"

namespace mx::families {
namespace {

layout::Layout& transpose(layout::Layout& layout) {
  const std::string columns = layout.view().back().name;
  return layout.permute({"E", columns, "rows"});
}

layout::TensorPlan build_2026_05(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  return {layout::is_weight(role) ? transpose(layout) : layout, &layout::kKeep};
}

/// Scales with rows and columns too, those per channel being a column.
layout::TensorPlan build_2026_08(layout::Role role, const Setting& setting) {
  layout::Layout layout = loaded_units(role, setting);
  if (layout::is_bias(role) || layout.view().size() < 3) return {std::move(layout), &layout::kKeep};
  return {transpose(layout), &layout::kKeep};
}

constexpr BackendLayout transposed(layout::WeightFormat format, deployment::Versions engines, std::string_view summary, Build build) {
  BackendLayout row = fp8_row("xpu", format, "XPU", summary, {}, build);
  row.source = kFp8Oracle;
  return in_versions(row, engines);
}
constexpr BackendLayout transposed_2026_05(layout::WeightFormat format) {
  return transposed(format, deployment::before(deployment::kVllm2026_08), "weights transposed, [K, N]; scales as loaded", build_2026_05);
}
constexpr BackendLayout transposed_2026_08(layout::WeightFormat format) {
  return transposed(format, deployment::since(deployment::kVllm2026_08), "weights and scales with rows and columns transposed, [K, N]",
                    build_2026_08);
}

constexpr std::array<BackendLayout, 8> kRows{
    as_loaded_row("xpu", "XPU"),
    transposed(layout::WeightFormat::fp8_tensor, deployment::since(deployment::kVllm2026_05), "weights transposed, [K, N]; scales as loaded",
               build_2026_05),
    transposed_2026_05(layout::WeightFormat::fp8_channel),
    transposed_2026_08(layout::WeightFormat::fp8_channel),
    transposed_2026_05(layout::WeightFormat::fp8_block),
    transposed_2026_08(layout::WeightFormat::fp8_block),
    transposed_2026_05(layout::WeightFormat::mxfp8),
    transposed_2026_08(layout::WeightFormat::mxfp8),
};

}  // namespace

constinit const std::span<const BackendLayout> kXpuLayouts{kRows};

}  // namespace mx::families
