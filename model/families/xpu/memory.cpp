// XPU: MXFP4 as loaded, FP8 transposed.

#include <array>
#include <string>

#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"

namespace mx::layout {
namespace {

/// Weights, and scales with rows and columns, transposed.
TensorPlan build_transposed(Role role, const Setting& setting) {
  Layout layout = loaded_units(role, setting);
  if (is_bias(role) || layout.view().size() < 3) return {std::move(layout), &kKeep};
  const std::string columns = layout.view().back().name;
  return {layout.permute({"E", columns, "rows"}), &kKeep};
}

constexpr BackendLayout transposed(WeightFormat format) {
  BackendLayout row = gated_only(fp8_row("xpu", format, "XPU", "weights and scales with rows and columns transposed, [K, N]", {}, build_transposed));
  row.source.path = "vllm/model_executor/layers/fused_moe/oracle/fp8.py";
  row.source.symbol = "convert_to_fp8_moe_kernel_format";
  return row;
}

constexpr std::array<BackendLayout, 4> kRows{
    as_loaded_row("xpu", "XPU"),
    transposed(WeightFormat::fp8_tensor),
    transposed(WeightFormat::fp8_channel),
    transposed(WeightFormat::fp8_block),
};

}  // namespace

std::span<const BackendLayout> xpu_layouts() { return kRows; }

}  // namespace mx::layout
