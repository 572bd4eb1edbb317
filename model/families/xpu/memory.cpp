// XPU: MXFP4 as loaded, FP8 and MXFP8 transposed.

#include <array>
#include <string>

#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"

namespace mx::layout {
namespace {

Layout& transpose(Layout& layout) {
  const std::string columns = layout.view().back().name;
  return layout.permute({"E", columns, "rows"});
}

TensorPlan build_2026_05(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  return {is_weight(role) ? transpose(layout) : layout, &kKeep};
}

/// Scales with rows and columns too, those per channel being a column.
TensorPlan build_2026_08(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  if (is_bias(role) || layout.view().size() < 3) return {std::move(layout), &kKeep};
  return {transpose(layout), &kKeep};
}

constexpr BackendLayout transposed(WeightFormat format, Versions engines, std::string_view summary, Build build) {
  BackendLayout row = fp8_row("xpu", format, "XPU", summary, {}, build);
  row.source = kFp8Oracle;
  return in_versions(row, engines);
}
constexpr BackendLayout transposed_2026_05(WeightFormat format) {
  return transposed(format, before(kVllm2026_08), "weights transposed, [K, N]; scales as loaded", build_2026_05);
}
constexpr BackendLayout transposed_2026_08(WeightFormat format) {
  return transposed(format, since(kVllm2026_08), "weights and scales with rows and columns transposed, [K, N]", build_2026_08);
}

constexpr std::array<BackendLayout, 8> kRows{
    as_loaded_row("xpu", "XPU"),
    transposed(WeightFormat::fp8_tensor, since(kVllm2026_05), "weights transposed, [K, N]; scales as loaded", build_2026_05),
    transposed_2026_05(WeightFormat::fp8_channel),
    transposed_2026_08(WeightFormat::fp8_channel),
    transposed_2026_05(WeightFormat::fp8_block),
    transposed_2026_08(WeightFormat::fp8_block),
    transposed_2026_05(WeightFormat::mxfp8),
    transposed_2026_08(WeightFormat::mxfp8),
};

}  // namespace

std::span<const BackendLayout> xpu_layouts() { return kRows; }

}  // namespace mx::layout
